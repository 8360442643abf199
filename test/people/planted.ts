// An operator and a platform that hold data of two users in most of their tables: `person` and somebody else.

import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type { OperatorOptions } from '../../src/sides/operator/options.ts'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import type { Result } from '../../src/subjects/providers/provider.ts'
import { report, secretOf } from '../conversions/reporting.ts'
import { accepted, gone, witnessService } from '../support/push-services.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'

/** Each text of the person contains one of these, and no other text does. */
export const person = { brand: '1', userId: 'mary-4711', text: 'TEXT-OF-MARY', token: 'token-of-mary' } as const
export const other = { brand: '1', userId: 'john', text: 'Hello John', token: 'token-of-john' } as const
type Of = typeof person | typeof other

const devicesKey = { name: 'backend', key: 'the-key-of-the-backend', scopes: ['devices', 'read'] } as const
const operatorKey = { name: 'operator', key: 'the-key-of-the-operator', scopes: ['devices'], brands: ['1'] } as const
const ofUser = (id: number, { userId, text }: Of) => element({ id, user_id: userId }, { title: `${text} ${id}` })
const link = (url: string, { userId }: Of, tokens: readonly string[], what = 'link') =>
  post(
    `${url}/admin/devices/${what}`,
    { brand: 1, user_id: userId, tokens: tokens.map((token) => ({ token, provider: 'firebase', channel: 'android' })) },
    devicesKey.key,
  )

/** The publisher of links is away, so an event of each device waits. */
export const away: NonNullable<OperatorOptions['publish']>[number]['publisher'] = {
  name: 'away',
  max: 10,
  concurrency: 1,
  publish: async (messages) =>
    messages.map(() => ({ category: 'fatal', reason: 'unavailable', blame: 'provider', error: 'away', rule: '503' })),
  close: async () => {},
}

export async function plantOperator(t: TestContext, store: string) {
  const service = witnessService('fcm_token', ({ device }) => (device.token.startsWith('dead-') ? gone : accepted))
  const operator = await startOperator(t, {
    store,
    status: {},
    push: { devices: { source: 'registry', services: [service] } },
    publish: [{ brand: '1', publisher: away }],
    adminKeys: [adminKey, devicesKey],
  })
  const { url } = operator
  const push = (body: unknown) =>
    post(`${url}/channels/push/${Array.isArray(body) ? 'batch' : 'single'}`, body, keys.one.key)
  for (const each of [other, person]) {
    await link(url, each, [each.token, `dead-${each.token}`, `old-${each.token}`])
    await link(url, each, [`old-${each.token}`], 'unlink')
    await post(`${url}/channels/site/single`, ofUser(20, each), keys.one.key)
  }
  await push([...[1, 2].map((id) => ofUser(id, person)), ofUser(1, other)])
  await push(ofUser(3, person))
  await push(ofUser(3, other))
  return { ...operator, repeat: () => push([ofUser(1, person), ofUser(1, other)]), push, link }
}

export async function plantPlatform(t: TestContext, store: string) {
  const answer = ({ id, key }: { id: string; key: string }): Result => {
    if (id === '1') return { category: 'successful', ref: `ref of ${key.length} ${key.slice(0, 8)}`, rule: 'accepted' }
    if (id === '2') return { category: 'failed', reason: 'rejected', error: `refused: ${key}`, rule: 'refused' }
    return { category: 'fatal', reason: 'unavailable', blame: 'message', error: 'later', rule: 'busy' }
  }
  const secret = secretOf('operator 1')
  const provider = {
    name: 'witness',
    max: 100,
    send: async (messages: readonly { id: string; key: string }[]) => messages.map(answer),
  }
  const lane = (channel: 'push' | 'site'): LaneOptions => ({
    brand: '1',
    channel,
    mode: 'batch',
    provider,
    status: { secrets: [secret] },
  })
  const platform = await startPlatform(t, { store, lanes: [lane('push'), lane('site')], keys: [adminKey, operatorKey] })
  const { url } = platform
  const enqueue = (records: readonly unknown[]) => post(`${url}/admin/activities/push`, records, adminKey.key)
  for (const each of [other, person]) {
    await enqueue([1, 2, 3].map((id) => ofUser(id, each)))
    await post(`${url}/admin/attributes/1/${each.userId}`, { excluded: true }, adminKey.key)
    await post(
      `${url}/v1/integration/user/device/link`,
      {
        user_id: each.userId,
        tokens: [{ token: each.token, provider: 'firebase', channel: 'android' }],
        timestamp: '2026-01-01T10:00:00Z',
        origin: 'x',
      },
      operatorKey.key,
    )
  }
  const messagesOf = async ({ userId }: Of) =>
    (await get(`${url}/admin/messages?brand=1&user_id=${userId}`)).body.messages
  await until(
    async () =>
      (await messagesOf(person)).filter((each: { outcome: string }) => each.outcome !== 'waiting').length === 2,
    {
      awaited: 'two messages of the person are settled',
    },
  )
  return { ...platform, enqueue, messagesOf, report: (body: unknown) => report(url, body, { secrets: [secret] }) }
}

/** The rows of all tables of a SQLite file that is not open, as text. */
export function readCells(
  file: string,
): readonly { readonly table: string; readonly column: string; readonly value: string }[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const tables = db.prepare(`select name from sqlite_schema where type = 'table'`).all()
  const cells = tables.flatMap(({ name }) =>
    db
      .prepare(`select * from "${name}"`)
      .all()
      .flatMap((row) =>
        Object.entries(row).map(([column, value]) => ({ table: String(name), column, value: String(value) })),
      ),
  )
  db.close()
  return cells
}
