// Both sides over HTTP, and the operator's own PostgreSQL behind a network that can be cut.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { sqlSource } from '../../src/attributes/sql.ts'
import { operatorApi } from '../../src/providers/operator-api.ts'
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

interface World {
  readonly platform: string
  readonly operator: string
  readonly push: Witness
  readonly players: Players
  readonly network: TcpProxy
}

async function world(t: TestContext, store: string): Promise<World> {
  const players = await createPlayers(store)
  await players.add('1001', '1002')
  const direct = new URL(store)
  const network = await tcpProxy(t, Number(direct.port))
  direct.port = String(network.port)
  const push = witness()
  const attributes = sqlSource({ database: direct.href, queries: playerQueries })
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
  'with the source of attributes away nothing is sent and nothing is lost; when it is back everything flows',
  async (t, store) => {
    for (const away of ['cut', 'freeze'] as const) {
      const { platform, push, players, network } = await world(t, away === 'cut' ? store : await freshSchema())
      await enqueue(platform, [element({ user_id: '1001' })])
      await until(() => push.received.length === 1, { what: 'one message before' })

      network[away]()
      const told = event('suppression.away')
      const waiting = Array.from({ length: 40 }, (_, i) =>
        element({ brand_id: 1 + (i % 2), user_id: i % 4 < 2 ? '1001' : '1002' }),
      )
      await enqueue(platform, waiting)
      await told
      // In the meantime somebody excludes himself: between enqueue and send.
      await players.exclude('1', '1002')
      await event('suppression.away') // another attempt
      assert.equal(push.received.length, 1, 'nothing was sent')

      network.restore()
      const all = await until(
        async () => {
          const found = await outcomes(platform, 41)
          return found.length === 41 && found.every(({ category }) => category !== 'waiting') && found
        },
        { what: 'all have an outcome', withinMs: 30_000 },
      )
      assert.equal(all.filter(({ category }) => category === 'successful').length, 31)
      assert.equal(all.filter(({ category }) => category === 'failed').length, 10)
      assert.equal(push.received.length, 31, 'each exactly once')
      assert.ok(push.received.every(({ brand, userId }) => brand === '2' || userId !== '1002'))
    }
  },
)

onPostgres(
  'a user excluded between enqueue and send is not messaged, and stands under Failed Actions with the reason',
  async (t, store) => {
    const { platform, operator, push, players, network } = await world(t, store)
    network.cut()
    const told = event('suppression.away')
    const { body } = await enqueue(platform, [element({ user_id: '1002' }), element({ user_id: '1002', brand_id: 2 })])
    assert.equal(body.accepted, 2)
    await told
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
      { what: 'it is under Failed Actions' },
    )
    assert.deepEqual(
      failed.map(({ user }) => user),
      ['1002'],
    )
    assert.match(failed[0]?.error ?? '', /not sent: the user is excluded/)
    const { body: story } = await get(`${operator}/admin/messages/${ref}`)
    assert.equal(story.rule, 'suppression: the user is excluded')
    await until(() => push.received.length === 1, { what: 'the other brand’s user gets the message' })
    assert.equal(push.received[0]?.brand, '2')
  },
)
