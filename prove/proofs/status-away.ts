// The platform is away while an hour's worth of statuses is recorded at the operator, and both are killed while the backlog drains.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { type MessageStatus, messageStatuses, statusSummary } from '../../src/contract/status.ts'
import { freePort } from '../../test/support/free-port.ts'
import { admin, enqueue, waitUntilSettled } from '../harness/http.ts'
import { type Process, startProcess } from '../harness/process.ts'
import type { Proof } from '../harness/proof.ts'
import { retryUntil } from '../harness/retry-until.ts'
import { apiKeys, appSecret, planVariable } from '../plans.ts'
import type { StatusPlan } from '../processes/status-plan.ts'

const notificationsOfUser = 100
/** The fate of each notification, by the remainder of its place: the mark, its statuses, and the final status. */
const fates: readonly {
  readonly as?: string
  readonly statuses: readonly MessageStatus[]
  readonly end: MessageStatus
}[] = [
  { statuses: [], end: 'displayed' },
  { as: 'read', statuses: ['opened'], end: 'opened' },
  { as: 'clicked', statuses: ['opened', 'clicked'], end: 'clicked' },
  { as: 'dismissed', statuses: ['dismissed'], end: 'dismissed' },
  { as: 'archived', statuses: ['opened', 'archived'], end: 'archived' },
]

export const statusAway: Proof = {
  name: 'status-away',
  claims:
    "the platform is away for an hour's worth of statuses (100 a second), and both sides are killed: every status arrives, and every final state is right",
  boundSeconds: { small: 120, full: 1_800 },
  async run({ small, folder, print }, signal) {
    const usersOfBrand = small ? 3 : 563
    const setup = await createSetup(folder)
    try {
      await setup.start('operator')
      await setup.start('platform')
      const messages = await sendMessages(setup.urls.platform, usersOfBrand, signal)
      await setup.kill('platform')
      print(`${messages} notifications; the platform is away`)
      const expected = new Map<string, (typeof fates)[number]>()
      const users = Object.keys(apiKeys).flatMap((brand) =>
        Array.from({ length: usersOfBrand }, (_, n) => ({ brand, userId: `user ${n}` })),
      )
      for (const [n, user] of users.entries()) {
        const marking = markAll(setup.urls.operator, user, signal)
        if (n === Math.floor(users.length / 3) || n === Math.floor((2 * users.length) / 3)) {
          await setup.kill('operator')
          await setup.start('operator')
        }
        for (const [ref, fate] of await marking) expected.set(ref, fate)
      }
      assert.equal(expected.size, messages)
      const backlog = await setup.waiting(signal)
      print(`${backlog} statuses wait`)
      for (const side of ['platform', 'operator', 'platform'] as const) {
        await setup.start('platform')
        const before = await setup.waiting(signal)
        // A small backlog may be gone before it is looked at.
        const rest = Math.max(0, before - backlog / 10)
        await retryUntil(async () => assert.ok((await setup.waiting(signal)) <= rest), signal)
        await setup.kill(side)
        if (side === 'operator') await setup.start('operator')
        print(`the ${side} was killed while the backlog drained; ${await setup.waiting(signal)} wait`)
      }
      await setup.start('platform')
      await retryUntil(async () => assert.equal(await setup.waiting(signal), 0), signal)
      const { items } = await admin<{ items: object[] }>(setup.urls.operator, '/admin/failed?limit=100')
      assert.deepEqual(items, [], 'no status was rejected')
      await setup.stop()
      const statuses = judge(setup.platformStore, expected)
      return { messages, statuses, waited: backlog, kills: 6 }
    } finally {
      await setup.stop()
    }
  },
}

type Side = 'operator' | 'platform'

async function createSetup(folder: string) {
  const ports = { operator: await freePort(), platform: await freePort() }
  const urls = { operator: `http://127.0.0.1:${ports.operator}`, platform: `http://127.0.0.1:${ports.platform}` }
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const files = { operator: join(folder, 'operator.db'), platform: join(folder, 'platform.db') }
  const running = new Map<Side, Process>()
  const end = async (side: Side, signal: NodeJS.Signals): Promise<void> => {
    const process = running.get(side)
    running.delete(side)
    process?.signal(signal)
    await process?.ended
  }
  return {
    urls,
    platformStore: files.platform,
    async start(side: Side): Promise<void> {
      if (running.has(side)) return
      const plan: StatusPlan = {
        store: `sqlite:${files[side]}`,
        port: ports[side],
        other: side === 'operator' ? urls.platform : urls.operator,
        secret,
      }
      const process = startProcess(new URL(`../processes/status-${side}.ts`, import.meta.url), {
        env: { [planVariable]: JSON.stringify(plan) },
      })
      running.set(side, process)
      await process.ready
    },
    kill: (side: Side) => end(side, 'SIGKILL'),
    /** The statuses that wait for the webhook. */
    waiting: (signal: AbortSignal): Promise<number> =>
      retryUntil(async () => {
        const { lanes } = await admin<{ lanes: readonly { name: string; waiting: number }[] }>(
          urls.operator,
          '/admin/lanes',
        )
        return lanes.reduce((sum, { waiting }) => sum + waiting, 0)
      }, signal),
    stop: async () => void (await Promise.all([end('operator', 'SIGTERM'), end('platform', 'SIGTERM')])),
  }
}

/** @returns the number of messages */
async function sendMessages(platform: string, usersOfBrand: number, signal: AbortSignal): Promise<number> {
  let messages = 0
  for (const brand of Object.keys(apiKeys))
    for (let user = 0; user < usersOfBrand; user++) {
      const lines = Array.from({ length: notificationsOfUser }, () => {
        const activity = { id: ++messages, brand_id: Number(brand), user_id: `user ${user}`, trigger_hash: 'hash' }
        return `${JSON.stringify({ activity, title: 'Hello', meta: { number: messages } })}\n`
      })
      await enqueue(platform, 'site', lines.join(''))
    }
  await waitUntilSettled(platform, signal)
  return messages
}

/** Marks all notifications of a user, and repeats a request that an unavailable operator did not answer. @returns the fate of each */
async function markAll(
  operator: string,
  { brand, userId }: { readonly brand: string; readonly userId: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, (typeof fates)[number]>> {
  const token = await createSubscriberToken({ secret: appSecret, brand, userId, ttlSeconds: 600 })
  const call = <Answer>(path: string, body?: object): Promise<Answer> =>
    retryUntil(async () => {
      const response = await fetch(`${operator}/app/inbox${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      })
      assert.equal(response.status, 200)
      return (await response.json()) as Answer
    }, signal)
  const { items, last_event_id: last } = await call<{
    items: readonly { site_notification_id: string }[]
    last_event_id: string
  }>(`?limit=${notificationsOfUser}`)
  await call('/mark', { as: 'seen', up_to: last })
  const fateOf = new Map(
    items.map(({ site_notification_id: ref }, n) => [ref, fates[n % fates.length] as (typeof fates)[number]]),
  )
  for (const fate of fates) {
    const refs = [...fateOf].filter(([, each]) => each === fate).map(([ref]) => ref)
    if (fate.as !== undefined) await call('/mark', { as: fate.as, site_notification_ids: refs })
  }
  return fateOf
}

/** Compares the platform's statuses with the expected ones. @returns their number */
function judge(file: string, expected: ReadonlyMap<string, (typeof fates)[number]>): number {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare('select ref, status, at, meta from reported_statuses').all() as unknown as readonly {
    ref: string
    status: MessageStatus
    at: string
    meta: string
  }[]
  const [waiting] = database.prepare('select count(*) as n from awaited_identifiers').all()
  database.close()
  assert.equal(waiting?.n, 0, 'every identifier belongs to a message')
  const byRef = Map.groupBy(rows, ({ ref }) => ref)
  const metas = new Set<string>()
  for (const [ref, fate] of expected) {
    const own = byRef.get(ref) ?? []
    const statuses: readonly MessageStatus[] = ['delivered', 'displayed', ...fate.statuses]
    assert.deepEqual(
      messageStatuses.filter((status) => own.some((row) => row.status === status)),
      messageStatuses.filter((status) => statuses.includes(status)),
      ref,
    )
    assert.equal(statusSummary(Object.fromEntries(own.map(({ status, at }) => [status, at]))), fate.end)
    assert.equal(new Set(own.map(({ meta }) => meta)).size, 1, 'each status of a message has the same meta')
    metas.add(own[0]?.meta ?? '')
  }
  assert.equal(metas.size, expected.size, 'each message has a meta of its own')
  assert.equal(byRef.size, expected.size)
  return rows.length
}
