// Links and unlinks on their way from an operator to a platform, over each channel, while everything in between fails.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { freePort } from '../../test/support/free-port.ts'
import { query } from '../../test/support/services/postgres.ts'
import { type Cuttable, cuttable } from '../harness/cuttable.ts'
import { type InBetween, lay } from '../harness/device-between.ts'
import { expected, lineOf, outOfOrder, roundOf, usersOfBrand } from '../harness/device-events.ts'
import { admin } from '../harness/http.ts'
import { type Process, startProcess } from '../harness/process.ts'
import type { Proof } from '../harness/proof.ts'
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
    claims: `over ${channel}: whatever is killed, cut or away, no link is lost, parked or out of its user's order`,
    needs: ['postgres', ...needs],
    boundSeconds: { small: 300, full: 1_200 },
    async run({ small, folder, say }, signal) {
      const rounds = (small ? 1_200 : 20_000) / eventsInRound
      const store = await postgresStore()
      const stage = await setStage(channel, folder, store.url)
      try {
        const strikes = strikesOn(stage)
        let posted = 0
        for (const [i, { what, strike }] of strikes.entries()) {
          const until = Math.round((rounds * (i + 1)) / (strikes.length + 1))
          const post = async (most: number): Promise<void> => {
            for (; posted < Math.min(most, until); posted++) await stage.post(posted, signal)
          }
          await post(posted + Math.ceil((until - posted) / 2))
          await strike(() => post(until))
          await post(until)
          say(`${posted * eventsInRound} events: ${what}`)
        }
        for (; posted < rounds; posted++) await stage.post(posted, signal)
        await stage.untilDrained(signal)
        const wanted = expected(rounds)
        await eventually(async () => assert.deepEqual(await linked(store.url), wanted), signal)
        const parked = [...(await stage.failedAt('operator')), ...(await stage.failedAt('platform'))]
        assert.deepEqual(parked, [], 'nothing was parked: all of it could be read')
        const arrived = await stage.between.witness()
        const { wrong, reached } = outOfOrder(arrived)
        assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} arrived out of their user's order`)
        assert.equal(reached.size, eventsInRound)
        for (const [user, next] of reached) assert.equal(next, rounds, `${user} was told of all`)
        const events = rounds * eventsInRound
        return { events, strikes: strikes.length, published_twice: arrived.length - events, linked: wanted.length }
      } finally {
        await stage.stop()
        await store.remove()
      }
    },
  }
}

export const deviceLinks: readonly Proof[] = [
  proofOver('rest', []),
  proofOver('amqp', ['rabbitmq']),
  proofOver('kafka', ['kafka']),
]

interface Stage {
  readonly channel: ChannelName
  readonly between: InBetween
  /** Between the platform and its database. */
  readonly database: Cuttable
  operator: Process
  platform: Process
  startOperator(): Promise<void>
  /** With `stall`: it has its hands full when it resolves. */
  startPlatform(stall?: true): Promise<void>
  /** Each of its events is known to the operator, durably, when it resolves. */
  post(round: number, signal: AbortSignal): Promise<void>
  untilDrained(signal: AbortSignal): Promise<void>
  failedAt(side: 'operator' | 'platform'): Promise<readonly object[]>
  stop(): Promise<void>
}

async function setStage(channel: ChannelName, folder: string, platformStore: string): Promise<Stage> {
  const [operatorPort, platformPort] = [await freePort(), await freePort()]
  const between = await lay(channel, platformPort)
  const direct = new URL(platformStore)
  const database = await cuttable(Number(direct.port || 5432))
  const through = new URL(platformStore)
  through.host = `127.0.0.1:${database.port}`
  const urls = { operator: `http://127.0.0.1:${operatorPort}`, platform: `http://127.0.0.1:${platformPort}` }
  const start = async (program: string, plan: DeviceOperatorPlan | DevicePlatformPlan): Promise<Process> => {
    const process = startProcess(new URL(`../processes/${program}.ts`, import.meta.url), {
      env: { [planVariable]: JSON.stringify(plan) },
    })
    // It may report it before it listens.
    const stalled = 'stall' in plan ? process.happened('stalled') : undefined
    await process.ready
    await stalled
    return process
  }
  const to = { channel, address: between.address }
  const operatorPlan = { store: `sqlite:${join(folder, 'operator.db')}`, port: operatorPort, between: to }
  const platformPlan = { store: through.href, port: platformPort, between: to }
  const platform = await start('device-platform', platformPlan)
  await eventuallyFor(20_000, () => between.prepare())
  const stage: Stage = {
    channel,
    between,
    database,
    platform,
    operator: await start('device-operator', operatorPlan),
    async startOperator() {
      stage.operator = await start('device-operator', operatorPlan)
    },
    async startPlatform(stall) {
      stage.platform = await start('device-platform', { ...platformPlan, ...(stall && { stall }) })
    },
    async post(round, signal) {
      for (const what of ['link', 'unlink'] as const) {
        const lines = roundOf(round).filter((event) => event.what === what)
        const body = lines.map((event) => `${lineOf(event)}\n`).join('')
        await eventually(() => admin(urls.operator, `/admin/devices/${what}`, body, 'application/x-ndjson'), signal)
      }
    },
    async untilDrained(signal) {
      await eventually(async () => {
        const { lanes } = await admin<{ lanes: { name: string; waiting: number }[] }>(urls.operator, '/admin/lanes')
        assert.deepEqual(
          lanes.filter(({ waiting }) => waiting > 0),
          [],
        )
      }, signal)
    },
    failedAt: async (side) => (await admin<{ items: object[] }>(urls[side], '/admin/failed?limit=100')).items,
    async stop() {
      for (const process of [stage.operator, stage.platform]) process.signal('SIGKILL')
      await Promise.all([stage.operator.ended, stage.platform.ended])
      await Promise.all([between.stop(), database.close()])
    },
  }
  return stage
}

interface Strike {
  readonly what: string
  /** `goOn` posts what belongs to this strike: events while it lasts. */
  strike(goOn: () => Promise<void>): Promise<void>
}

function strikesOn(stage: Stage): readonly Strike[] {
  const { between, database } = stage
  const kill = async (side: 'operator' | 'platform'): Promise<void> => {
    stage[side].signal('SIGKILL')
    await stage[side].ended
  }
  const strikes: Strike[] = [
    {
      what: 'the operator was killed between write and publish',
      async strike(goOn) {
        between.network.cut()
        const held = stage.operator.happened('lane.held')
        await goOn()
        await held
        await kill('operator')
        between.network.mend()
        await stage.startOperator()
      },
    },
    {
      what: 'the operator was killed while it published',
      async strike(goOn) {
        const publishing = stage.operator.happened('batch.sent')
        const posting = goOn()
        await publishing
        await kill('operator')
        await stage.startOperator()
        await posting
      },
    },
    {
      what: 'the network was cut',
      async strike(goOn) {
        between.network.cut()
        await goOn()
        await rest(1_500)
        between.network.mend()
      },
    },
    {
      what: 'the network swallowed everything',
      async strike(goOn) {
        between.network.freeze()
        await goOn()
        await rest(5_000)
        between.network.mend()
      },
    },
    {
      what: 'the database of the platform was away',
      async strike(goOn) {
        const held =
          stage.channel === 'rest' ? stage.operator.happened('lane.held') : stage.platform.happened('channel.held')
        database.cut()
        await goOn()
        await held
        await rest(1_000)
        database.mend()
      },
    },
    {
      what: 'the platform was killed while its database was away',
      async strike(goOn) {
        database.cut()
        await goOn()
        await rest(300)
        await kill('platform')
        database.mend()
        await stage.startPlatform()
      },
    },
  ]
  if (stage.channel !== 'rest')
    strikes.push({
      what: `the platform was killed ${deliveryLimit + 3} times with its hands full`,
      async strike(goOn) {
        await kill('platform')
        await goOn()
        for (let i = 0; i < deliveryLimit + 3; i++) {
          await stage.startPlatform(true)
          await kill('platform')
        }
        await stage.startPlatform()
      },
    })
  const { broker } = between
  if (broker)
    strikes.push({
      what: 'the broker was killed, and started again',
      async strike(goOn) {
        const posting = goOn()
        await broker.kill()
        await posting
        await broker.restart()
      },
    })
  return strikes
}

/** 'brand/user/token' of every device that somebody has, as the tables say. */
async function linked(store: string): Promise<readonly string[]> {
  const rows = await query(
    store,
    `select d.brand || '/' || d.user_id || '/' || d.token as it from devices d
     left join device_unlinks u on u.brand = d.brand and u.device = d.device and u.user_id = d.user_id
     where u.at is null or u.at < d.link_at`,
  )
  return rows.map(({ it }) => it as string).sort()
}

async function eventually<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
      await rest(100)
    }
  }
}

const eventuallyFor = <T>(ms: number, work: () => Promise<T>): Promise<T> => eventually(work, AbortSignal.timeout(ms))

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
