// Both sides over HTTP, with the operator's own PostgreSQL behind a proxy that can be cut.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { sqlSource } from '../../src/subjects/attributes/sql.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { onPostgres } from '../support/engines.ts'
import { createPlayers, type Players, playerQueries } from '../support/players.ts'
import { freshSchema } from '../support/services/postgres.ts'
import {
  adminKey,
  element,
  get,
  keys,
  post,
  startOperator,
  startPlatform,
  type Witness,
  witness,
} from '../support/sides.ts'
import { type TcpProxy, tcpProxy } from '../support/tcp-proxy.ts'
import { event, until } from '../support/wait.ts'

interface Setup {
  readonly platform: string
  readonly operator: string
  readonly push: Witness
  readonly players: Players
  readonly network: TcpProxy
}

async function setUp(t: TestContext, store: string): Promise<Setup> {
  const players = await createPlayers(store)
  await players.add('1001', '1002')
  const network = await tcpProxy(t, store)
  const push = witness()
  const attributes = sqlSource({ database: network.url, queries: playerQueries })
  const { url: operator } = await startOperator(t, { push, attributes, suppression: { timeoutMs: 500 } })
  const lane = (brand: '1' | '2') => ({
    brand,
    channel: 'push' as const,
    mode: 'batch' as const,
    provider: operatorApi({ url: operator, apiKey: brand === '1' ? keys.one.key : keys.two.key }),
    spanMs: 20,
    retry: { firstMs: 50, mostMs: 200 },
  })
  const { url: platform } = await startPlatform(t, { lanes: [lane('1'), lane('2')] })
  return { platform, operator, push, players, network }
}

async function outcomes(platform: string, count: number): Promise<{ category: string; error?: string }[]> {
  const seqs = Array.from({ length: count }, (_, i) => i + 1)
  const { body } = await post(`${platform}/admin/outcomes`, { seqs }, adminKey.key)
  return body.outcomes
}

const enqueue = (platform: string, elements: readonly object[]) =>
  post(`${platform}/admin/activities/push`, elements, adminKey.key)

onPostgres(
  'while the attribute source is unavailable, no message is sent or lost; afterwards all messages are sent',
  async (t, store) => {
    for (const fault of ['cut', 'freeze'] as const) {
      const { platform, push, players, network } = await setUp(t, fault === 'cut' ? store : await freshSchema())
      await enqueue(platform, [element({ user_id: '1001' })])
      await until(() => push.received.length === 1, { awaited: 'one message before' })

      network[fault]()
      const failed = event('suppression.away')
      const waiting = Array.from({ length: 40 }, (_, i) =>
        element({ brand_id: 1 + (i % 2), user_id: i % 4 < 2 ? '1001' : '1002' }),
      )
      await enqueue(platform, waiting)
      await failed
      // A user excludes himself between enqueue and send.
      await players.exclude('1', '1002')
      await event('suppression.away') // another attempt
      assert.equal(push.received.length, 1, 'no message was sent')

      const back = event('suppression.back')
      network.restore()
      await back
      const all = await until(
        async () => {
          const found = await outcomes(platform, 41)
          return found.length === 41 && found.every(({ category }) => category !== 'waiting') && found
        },
        { awaited: 'all have an outcome', withinMs: 30_000 },
      )
      assert.equal(all.filter(({ category }) => category === 'successful').length, 31)
      assert.equal(all.filter(({ category }) => category === 'failed').length, 10)
      assert.equal(push.received.length, 31, 'each message exactly once')
      assert.ok(push.received.every(({ brand, userId }) => brand === '2' || userId !== '1002'))
    }
  },
)

onPostgres(
  'a message to a user who was excluded between enqueue and send is not sent, and is in Failed Actions with the reason',
  async (t, store) => {
    const { platform, operator, push, players, network } = await setUp(t, store)
    network.cut()
    const unavailable = event('suppression.away')
    const { body } = await enqueue(platform, [element({ user_id: '1002' }), element({ user_id: '1002', brand_id: 2 })])
    assert.equal(body.accepted, 2)
    await unavailable
    await players.exclude('1', '1002')
    const suppressed = event('message.suppressed')
    network.restore()
    const { ref, why } = await suppressed
    assert.equal(why, 'the user is excluded')
    const failed = await until(
      async () => {
        const { items } = (await get(`${platform}/admin/failed`)).body as { items: { user: string; error: string }[] }
        return items.length > 0 && items
      },
      { awaited: 'the message is in Failed Actions' },
    )
    assert.deepEqual(
      failed.map(({ user }) => user),
      ['1002'],
    )
    assert.match(failed[0]?.error ?? '', /not sent: the user is excluded/)
    const { body: details } = await get(`${operator}/admin/messages/${ref}`)
    assert.equal(details.rule, 'suppression: the user is excluded')
    await until(() => push.received.length === 1, { awaited: 'the user of the other brand gets the message' })
    assert.equal(push.received[0]?.brand, '2')
  },
)
