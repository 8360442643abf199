// One run: chaos, in which faults happen and safety is checked, then healing, in which everything must drain.

import type { DatabaseSync } from 'node:sqlite'
import type { FastifyInstance } from 'fastify'
import type { Queue } from '../../src/base/queue/queue.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { platformStores } from '../../src/sides/platform/stores.ts'
import { createModel, type FinalReport, type ModelledMessage, Violation } from './model.ts'
import { createWitness } from './provider.ts'
import { createRandom, type Random } from './random.ts'
import { createFaults, drawSettings } from './settings.ts'
import { laneOf, startOperator, startPlatform } from './sides.ts'
import { watchStates } from './states.ts'
import { createDisk, openStore, type StoreOptions } from './store.ts'
import { createWire, type Serve } from './wire.ts'
import { createWorld, type SimulatedProcess } from './world.ts'

export interface Run {
  readonly trace: string
  /** What was reached, and how often. */
  readonly states: ReadonlyMap<string, number>
  readonly violation?: string
  /** The end of the trace, if there was a violation. */
  readonly recent?: readonly string[]
}

/** Everything is drained this long after the last fault, in virtual time. */
const healingMs = 900_000
const platformMigrations = platformStores({ store: 'sqlite::memory:' })[0].migrations

interface Side<Running> {
  readonly disk: DatabaseSync
  process: SimulatedProcess
  running: Running | undefined
  /** Called when the process is killed. */
  onDeath: Set<() => void>
}

export async function runSeed(seed: number): Promise<Run> {
  const random = createRandom(seed)
  const settings = drawSettings(random.fork('settings'))
  const disks = { operator: await createDisk(operatorMigrations), platform: await createDisk(platformMigrations) }
  const world = createWorld(random.fork('world'))
  const states = watchStates()
  const faults = createFaults(random.fork('faults'), states.reach)
  const model = createModel({ ...settings.lane })
  const truths = new Map<string, ModelledMessage['truth']>()
  const ids = new Map<number, string>()
  let violation: string | undefined
  let healing = false

  const parts = (label: string) => ({ world, random: random.fork(label), faults, model })
  const witness = createWitness({ ...parts('witness'), truths, max: settings.operator.providerMax })
  const operator: Side<FastifyInstance> = side('operator', disks.operator)
  const platform: Side<Queue> = side('platform', disks.platform)
  const stores = { operator: random.fork('operator store'), platform: random.fork('platform store') }
  const connect = createWire({ ...parts('wire'), reach: () => operator.running && serve(operator.running), fail })

  function side<Running>(name: string, disk: DatabaseSync): Side<Running> {
    return { disk, process: world.start(name), running: undefined, onDeath: new Set() }
  }

  function serve(app: FastifyInstance): Serve {
    return async ({ path, headers, body }, onDeath) => {
      operator.onDeath.add(onDeath)
      // inject() begins when its promise is awaited.
      const answer = await world.runIn(
        operator.process,
        async () => await app.inject({ method: 'POST', url: path, headers, payload: body }),
      )
      operator.onDeath.delete(onDeath)
      const wait = answer.headers['retry-after']
      return {
        status: answer.statusCode,
        retryAfterSeconds: wait === undefined ? undefined : Number(wait),
        body: answer.body,
      }
    }
  }

  function boot(what: 'operator' | 'platform'): void {
    world.note(`start ${what}`)
    if (what === 'operator') {
      const database = open(operator, stores.operator, { onFault: model.operatorUpset, onLost: () => {} })
      const { process } = operator
      void world.runIn(process, async () => {
        const app = await startOperator(database, witness, settings.operator)
        if (process.alive) operator.running = app
      })
    } else {
      const database = open(platform, stores.platform, { onFault: () => {}, onLost: model.platformDied })
      platform.running = world.runIn(platform.process, () => startPlatform(database, () => connect, settings.lane))
    }
  }

  function open(of: Side<unknown>, storeRandom: Random, hooks: Pick<StoreOptions, 'onFault' | 'onLost'>) {
    of.process = world.start(of.process.name, of.process.skewMs)
    return world.runIn(of.process, () => openStore(of.disk, { world, random: storeRandom, faults, ...hooks }))
  }

  function kill(what: 'operator' | 'platform', downMs: number): void {
    const of = what === 'operator' ? operator : platform
    if (!of.running) return
    world.note(`kill ${what}`)
    of.process.alive = false
    of.running = undefined
    if (what === 'operator') model.operatorDied()
    else model.platformDied()
    for (const inform of of.onDeath) inform()
    of.onDeath.clear()
    world.schedule(downMs, () => boot(what), 'world')
  }

  const strikes = random.fork('strikes')
  /** Looks now and then whether something happens to a process. */
  function strike(): void {
    if (healing) return
    for (const what of ['operator', 'platform'] as const) {
      const of = what === 'operator' ? operator : platform
      if (faults.fires(`${what} killed`)) kill(what, strikes.pick([1, 100, 2_000]))
      if (faults.fires(`${what} clock set`)) {
        of.process.skewMs += strikes.pick([-1, 1]) * strikes.pick([500, 60_000, 3 * 3_600_000])
        world.note(`the clock of the ${what} is ${of.process.skewMs} ms ahead`)
      }
      if (!faults.fires(`${what} stopped`)) continue
      of.process.stoppedUntil = world.now + strikes.pick([10, 1_000, 12_000])
      world.note(`stop ${what} for ${of.process.stoppedUntil - world.now} ms`)
    }
    world.schedule(strikes.integer(50, 500), strike, 'world')
  }

  /** Puts a message until the platform has accepted it. */
  function enqueue(id: string, expiresAt: number | undefined): void {
    const queue = platform.running
    if (!queue) {
      world.schedule(200, () => enqueue(id, expiresAt), 'world')
      return
    }
    const user = String(1_000 + (Number(id) % 5))
    const text = `{"activity":{"id":${id},"brand_id":1,"user_id":"${user}","activity_id":7,"trigger_hash":"h","action_id":9},"title":"t","body":"b"}`
    const key = messageKey('push', { id, userId: user, activityId: '7', actionId: '9', triggerHash: 'h' })
    let accepted = false
    const item = { key, text, ...(expiresAt !== undefined && { expiresAt }) }
    void world.runIn(platform.process, () =>
      queue.enqueue(laneOf, [item]).then(
        ([stored]) => {
          accepted = true
          world.note(`accepted ${id}`)
          ids.set(stored?.seq ?? 0, id)
        },
        () => {},
      ),
    )
    world.schedule(5_000, () => !accepted && enqueue(id, expiresAt), 'world')
  }

  const onSettled = states.on('item.settled', ({ seq }) => {
    const id = ids.get(seq)
    if (id !== undefined) model.stored(id)
  })

  const onFailed = states.on('loop.failed', ({ loop, error, inMs }) =>
    world.note(`${world.process?.name}: ${loop} failed, again in ${Math.round(inMs)} ms: ${error}`),
  )

  async function readReports(queue: Queue): Promise<Map<string, FinalReport>> {
    const outcomes = await world.runIn(platform.process, () => queue.readOutcomes([...ids.keys()]))
    return new Map(outcomes.map(({ seq, ...report }) => [ids.get(seq) as string, report]))
  }

  async function drained(): Promise<boolean> {
    let result: boolean | undefined
    const look = async (): Promise<void> => {
      const queue = platform.running
      const reports = queue && ids.size === settings.messages ? await readReports(queue) : undefined
      if (reports && [...reports.values()].every(({ category }) => category !== 'waiting')) {
        model.check(reports)
        result = true
      } else world.schedule(2_000, () => void look().catch(fail), 'world')
    }
    void look().catch(fail)
    return (await world.run(() => result === true || broken(), settings.chaosMs + healingMs)) && !broken()
  }

  const broken = (): boolean => {
    violation ??= model.violation
    return violation !== undefined
  }

  function fail(error: unknown): void {
    violation ??= error instanceof Violation ? error.message : String((error as Error).stack ?? error)
  }

  try {
    world.note(JSON.stringify(settings))
    boot('operator')
    boot('platform')
    const arrivals = random.fork('arrivals')
    for (let n = 1; n <= settings.messages; n++) {
      const id = String(n)
      const truth = arrivals.chance(0.9) ? 'successful' : 'failed'
      const at = arrivals.integer(0, settings.chaosMs)
      const expires = settings.expiring && arrivals.chance(0.3)
      truths.set(id, truth)
      world.schedule(
        at,
        () => {
          const expiresAt = expires
            ? Math.floor(world.now) + platform.process.skewMs + arrivals.pick([0, 500, 60_000])
            : undefined
          model.accept({ id, truth, ...(expiresAt !== undefined && { expiresAt }) })
          enqueue(id, expiresAt)
        },
        'world',
      )
    }
    strike()
    await world.run(broken, settings.chaosMs)
    healing = true
    faults.heal()
    world.note('healing')
    if (!broken() && !(await drained()) && !broken()) violation ??= 'not everything drained after the last fault'
  } catch (error) {
    fail(error)
  } finally {
    onSettled()
    onFailed()
    states.end()
    operator.process.alive = false
    platform.process.alive = false
    world.end()
    for (const disk of Object.values(disks)) disk.close()
  }
  return {
    trace: world.trace,
    states: states.reached,
    ...(violation !== undefined && { violation, recent: world.recent }),
  }
}
