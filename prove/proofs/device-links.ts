// Links and unlinks are published from an operator to a platform over each channel, while processes, network, broker and stores
// fail.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { freePort } from '../../test/support/free-port.ts'
import { query } from '../../test/support/services/postgres.ts'
import { checkOrder, expectedDevices, lineOf, roundOf, usersOfBrand } from '../harness/device-events.ts'
import { type DeviceTransport, startTransport } from '../harness/device-transport.ts'
import { admin } from '../harness/http.ts'
import { type NetworkProxy, startNetworkProxy } from '../harness/network-proxy.ts'
import { type Process, startProcess } from '../harness/process.ts'
import type { Proof } from '../harness/proof.ts'
import { retryUntil } from '../harness/retry-until.ts'
import { planVariable } from '../plans.ts'
import {
  type ChannelName,
  type DeviceOperatorPlan,
  type DevicePlatformPlan,
  deliveryLimit,
} from '../processes/device-plan.ts'

const eventsInRound = 2 * usersOfBrand

function proofOver(channel: ChannelName, needs: NonNullable<Proof['needs']>): Proof {
  return {
    name: `device-links-${channel}`,
    claims: `over ${channel}: with killed processes, a cut network and unavailable stores, no link is lost, parked or out of order for its user`,
    needs: ['postgres', ...needs],
    boundSeconds: { small: 300, full: 1_200 },
    async run({ small, folder, print }, signal) {
      const rounds = (small ? 1_200 : 20_000) / eventsInRound
      await using store = await postgresStore()
      const setup = await createSetup(channel, folder, store.url)
      try {
        const strikes = createStrikes(setup, small)
        let posted = 0
        for (const [i, { name, strike }] of strikes.entries()) {
          const until = Math.round((rounds * (i + 1)) / (strikes.length + 1))
          const post = async (most: number): Promise<void> => {
            for (; posted < Math.min(most, until); posted++) await setup.post(posted, signal)
          }
          await post(posted + Math.ceil((until - posted) / 2))
          await strike(() => post(until))
          await post(until)
          print(`${posted * eventsInRound} events: ${name}`)
        }
        for (; posted < rounds; posted++) await setup.post(posted, signal)
        await setup.untilDrained(signal)
        const expected = expectedDevices(rounds)
        await retryUntil(async () => assert.deepEqual(await readLinkedDevices(store.url), expected), signal)
        const parked = [...(await setup.failedAt('operator')), ...(await setup.failedAt('platform'))]
        assert.deepEqual(parked, [], 'no event was parked: all events were readable')
        const arrived = await setup.transport.readArrivals()
        const { wrong, reached } = checkOrder(arrived)
        assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} events arrived out of order for their user`)
        assert.equal(reached.size, eventsInRound)
        for (const [user, next] of reached) assert.equal(next, rounds, `all events of ${user} arrived`)
        const events = rounds * eventsInRound
        return { events, strikes: strikes.length, published_twice: arrived.length - events, linked: expected.length }
      } finally {
        await setup.stop()
      }
    },
  }
}

export const deviceLinks: readonly Proof[] = [
  proofOver('rest', []),
  proofOver('amqp', ['rabbitmq']),
  proofOver('kafka', ['kafka']),
]

interface ProofSetup {
  readonly channel: ChannelName
  readonly transport: DeviceTransport
  /** The connection between the platform and its database. */
  readonly database: NetworkProxy
  operator: Process
  platform: Process
  startOperator(): Promise<void>
  /** With `stall`, it resolves when the platform has received messages that it never acknowledges. */
  startPlatform(stall?: true): Promise<void>
  /** Posts the events of a round. When it resolves, they are durable at the operator. */
  post(round: number, signal: AbortSignal): Promise<void>
  untilDrained(signal: AbortSignal): Promise<void>
  failedAt(side: 'operator' | 'platform'): Promise<readonly object[]>
  stop(): Promise<void>
}

async function createSetup(channel: ChannelName, folder: string, platformStore: string): Promise<ProofSetup> {
  const [operatorPort, platformPort] = [await freePort(), await freePort()]
  const transport = await startTransport(channel, platformPort)
  const direct = new URL(platformStore)
  const database = await startNetworkProxy(Number(direct.port || 5432))
  const proxied = new URL(platformStore)
  proxied.host = `127.0.0.1:${database.port}`
  const urls = { operator: `http://127.0.0.1:${operatorPort}`, platform: `http://127.0.0.1:${platformPort}` }
  const start = async (program: string, plan: DeviceOperatorPlan | DevicePlatformPlan): Promise<Process> => {
    const process = startProcess(new URL(`../processes/${program}.ts`, import.meta.url), {
      env: { [planVariable]: JSON.stringify(plan) },
    })
    // The process may report 'stalled' before it is ready.
    const stalled = 'stall' in plan ? process.waitFor('stalled') : undefined
    await process.ready
    await stalled
    return process
  }
  const transportAddress = { channel, address: transport.address }
  const operatorPlan = {
    store: `sqlite:${join(folder, 'operator.db')}`,
    port: operatorPort,
    transport: transportAddress,
  }
  const platformPlan = { store: proxied.href, port: platformPort, transport: transportAddress }
  const platform = await start('device-platform', platformPlan)
  await retryFor(20_000, () => transport.prepare())
  const setup: ProofSetup = {
    channel,
    transport,
    database,
    platform,
    operator: await start('device-operator', operatorPlan),
    async startOperator() {
      setup.operator = await start('device-operator', operatorPlan)
    },
    async startPlatform(stall) {
      setup.platform = await start('device-platform', { ...platformPlan, ...(stall && { stall }) })
    },
    async post(round, signal) {
      for (const what of ['link', 'unlink'] as const) {
        const lines = roundOf(round).filter((event) => event.what === what)
        const body = lines.map((event) => `${lineOf(event)}\n`).join('')
        await retryUntil(() => admin(urls.operator, `/admin/devices/${what}`, body, 'application/x-ndjson'), signal)
      }
    },
    async untilDrained(signal) {
      await retryUntil(async () => {
        const { lanes } = await admin<{ lanes: { name: string; waiting: number }[] }>(urls.operator, '/admin/lanes')
        assert.deepEqual(
          lanes.filter(({ waiting }) => waiting > 0),
          [],
        )
      }, signal)
    },
    failedAt: async (side) => (await admin<{ items: object[] }>(urls[side], '/admin/failed?limit=100')).items,
    async stop() {
      for (const process of [setup.operator, setup.platform]) process.signal('SIGKILL')
      await Promise.all([setup.operator.ended, setup.platform.ended])
      await Promise.all([transport.stop(), database.close()])
    },
  }
  return setup
}

interface Strike {
  readonly name: string
  /** `post` posts the events of this strike. */
  strike(post: () => Promise<void>): Promise<void>
}

function createStrikes(setup: ProofSetup, small: boolean): readonly Strike[] {
  const { transport, database } = setup
  const kill = async (side: 'operator' | 'platform'): Promise<void> => {
    setup[side].signal('SIGKILL')
    await setup[side].ended
  }
  const strikes: Strike[] = [
    {
      name: 'the operator was killed between write and publish',
      async strike(post) {
        transport.network.cut()
        const held = setup.operator.waitFor('lane.held')
        await post()
        await held
        await kill('operator')
        transport.network.restore()
        await setup.startOperator()
      },
    },
    {
      name: 'the operator was killed while it published',
      async strike(post) {
        const publishing = setup.operator.waitFor('batch.sent')
        const posting = post()
        await publishing
        await kill('operator')
        await setup.startOperator()
        await posting
      },
    },
    {
      name: 'the network was cut',
      async strike(post) {
        transport.network.cut()
        await post()
        await sleep(1_500)
        transport.network.restore()
      },
    },
    {
      name: 'the network dropped all data',
      async strike(post) {
        transport.network.freeze()
        await post()
        await sleep(5_000)
        transport.network.restore()
      },
    },
    {
      name: 'the database of the platform was unavailable',
      async strike(post) {
        const held =
          setup.channel === 'rest' ? setup.operator.waitFor('lane.held') : setup.platform.waitFor('consumer.held')
        database.cut()
        await post()
        await held
        await sleep(1_000)
        database.restore()
      },
    },
    {
      name: 'the platform was killed while its database was unavailable',
      async strike(post) {
        database.cut()
        await post()
        await sleep(300)
        await kill('platform')
        database.restore()
        await setup.startPlatform()
      },
    },
  ]
  if (setup.channel !== 'rest') {
    // Enough to dead-letter every waiting message of RabbitMQ. Earlier kills count too, and a message that fails more often than the
    // limit in the dead-letter queue as well is parked, so there is only one kill more. In npm test,
    // test/devices/channels/failures.test.ts kills consumers more often than the limit.
    const kills = small ? 2 : deliveryLimit + 2
    strikes.push({
      name: `the platform was killed ${kills} times with unacknowledged messages`,
      async strike(post) {
        await kill('platform')
        await post()
        for (let i = 0; i < kills; i++) {
          await setup.startPlatform(true)
          await kill('platform')
        }
        await setup.startPlatform()
      },
    })
  }
  const { broker } = transport
  // In npm test, the proof intake restarts the broker of the same consumers.
  if (broker && !small)
    strikes.push({
      name: 'the broker was killed and restarted',
      async strike(post) {
        const posting = post()
        await broker.kill()
        await posting
        await broker.restart()
      },
    })
  return strikes
}

/** 'brand/user/token' of every linked device in the tables. */
async function readLinkedDevices(store: string): Promise<readonly string[]> {
  const rows = await query(
    store,
    `select d.brand || '/' || d.user_id || '/' || d.token as it from devices d
     left join device_unlinks u on u.brand = d.brand and u.device = d.device and u.user_id = d.user_id
     where u.at is null or u.at < d.link_at`,
  )
  return rows.map(({ it }) => it as string).sort()
}

const retryFor = <T>(ms: number, work: () => Promise<T>): Promise<T> => retryUntil(work, AbortSignal.timeout(ms))

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
