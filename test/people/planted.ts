// An operator and a platform that hold data of two users in most of their tables: `person` and somebody else.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { configOf } from '../../src/base/store/postgres-address.ts'
import { createClient } from '../../src/base/store/postgres-client.ts'
import type { OperatorOptions } from '../../src/sides/operator/options.ts'
import type { LaneOptions, PlatformOptions } from '../../src/sides/platform/options.ts'
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
export const ofUser = (id: number, { userId, text }: Of) => element({ id, user_id: userId }, { title: `${text} ${id}` })
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

export async function startPlantedOperator(t: TestContext, store: string) {
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
  return { ...operator, push, repeat: () => push([ofUser(1, person), ofUser(1, other)]), link }
}

export async function plantOperator(t: TestContext, store: string) {
  const operator = await startPlantedOperator(t, store)
  const { url, push } = operator
  for (const each of [other, person]) {
    await link(url, each, [each.token, `dead-${each.token}`, `old-${each.token}`])
    await link(url, each, [`old-${each.token}`], 'unlink')
    await post(`${url}/channels/site/single`, ofUser(20, each), keys.one.key)
  }
  await push([...[1, 2].map((id) => ofUser(id, person)), ofUser(1, other)])
  await push(ofUser(3, person))
  await push(ofUser(3, other))
  return operator
}

export async function startPlantedPlatform(
  t: TestContext,
  store: string,
  more: Pick<Partial<PlatformOptions>, 'intake'> = {},
) {
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
  const platform = await startPlatform(t, {
    store,
    lanes: [lane('push'), lane('site')],
    keys: [adminKey, operatorKey],
    ...more,
  })
  const { url } = platform
  const messagesOf = async ({ userId }: Of) =>
    (await get(`${url}/admin/messages?brand=1&user_id=${userId}`)).body.messages
  return {
    ...platform,
    messagesOf,
    enqueue: (records: readonly unknown[]) => post(`${url}/admin/activities/push`, records, adminKey.key),
    report: (body: unknown) => report(url, body, { secrets: [secret] }),
    /** An event of the past. */
    link: ({ userId, token }: Of) =>
      post(
        `${url}/v1/integration/user/device/link`,
        {
          user_id: userId,
          tokens: [{ token, provider: 'firebase', channel: 'android' }],
          timestamp: '2026-01-01T10:00:00Z',
          origin: 'x',
        },
        operatorKey.key,
      ),
  }
}

export async function plantPlatform(
  t: TestContext,
  store: string,
  more: Pick<Partial<PlatformOptions>, 'intake'> = {},
) {
  const platform = await startPlantedPlatform(t, store, more)
  const { url, enqueue, messagesOf, link: linkDevice } = platform
  for (const each of [other, person]) {
    await enqueue([1, 2, 3].map((id) => ofUser(id, each)))
    await post(`${url}/admin/attributes/1/${each.userId}`, { excluded: true }, adminKey.key)
    await linkDevice(each)
  }
  await until(
    async () =>
      (await messagesOf(person)).filter((each: { outcome: string }) => each.outcome !== 'waiting').length === 2,
    {
      awaited: 'two messages of the person are settled',
    },
  )
  return platform
}

/** Everything in the store: of SQLite the bytes of all its files, of PostgreSQL the rows of all tables. The side has stopped. */
async function contentsOf(store: string): Promise<readonly { readonly name: string; readonly text: string }[]> {
  if (store.startsWith('sqlite:')) {
    const folder = dirname(store.slice('sqlite:'.length))
    return readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'latin1') }))
  }
  const client = createClient(configOf(store))
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`,
  )
  const contents = []
  for (const { name } of tables) {
    const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`)
    contents.push({ name, text: rows.map(({ text }) => text).join('\n') })
  }
  await client.end()
  return contents
}

/** Nothing of the person is in the store, and everything of the other user is. */
export async function assertGone(store: string): Promise<void> {
  const contents = await contentsOf(store)
  for (const mark of [person.userId, person.text, person.token])
    for (const { name, text } of contents) {
      const at = text.indexOf(mark)
      assert.equal(at, -1, `${name} has ${mark}: …${text.slice(Math.max(0, at - 100), at + 100)}…`)
    }
  for (const mark of [other.userId, other.text, other.token])
    assert.ok(
      contents.some(({ text }) => text.includes(mark)),
      `${mark} is still there`,
    )
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
