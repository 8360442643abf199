import assert from 'node:assert/strict'
import { constants, getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { type Latency, measureLatency, quantile, type Sample } from '../harness/latency.ts'
import { memoryOf } from '../harness/process.ts'
import type { Proof, ProofOptions } from '../harness/proof.ts'
import { type Attack, attacks, pushForty } from './strangers/attacks.ts'
import { activity, type Kind, startTarget, type Target } from './strangers/target.ts'

/** The most growth of one process. */
const maxMemoryBytes = 150 * 1024 * 1024
/**
 * The most growth of /metrics. The first refusal at a route adds a histogram of 1 KiB, and new outcomes a few series; a series for
 * each device or kind would add thousands.
 */
const maxMetricsBytes = 16 * 1024
const maxLatencyFactor = 2
/** A median below this time, in ms, depends only on the scheduler of a busy machine. */
const minMedian = 5
/** The number of requests of the other brand before and during each attack. */
const samples = { small: 1, full: 100 }
/** Because of other load on the machine, a latency counts as higher only if it is higher in each round. */
const rounds = 3

interface Trial {
  readonly attack: Attack
  /** Why the attack succeeded. Absent: it failed, as required. */
  readonly wrong?: string
  readonly memory: number
  readonly metrics: number
  readonly before: readonly Sample[]
  readonly during: readonly Sample[]
}
interface AttackResult extends Trial {
  readonly kind: Kind
}

export const strangers: Proof = {
  name: 'strangers',
  claims:
    'attacks by strangers, users and one brand are refused, need no memory or metrics, and do not slow down another brand',
  boundSeconds: { small: 240, full: 2_400 },
  async run({ small, folder, print }, signal) {
    // Attackers have their own machines: this thread must not take processor time from the measured processes.
    const priority = getPriority()
    if (!small) setPriority(constants.priority.PRIORITY_LOW)
    try {
      const attackKind = (kind: Kind): Promise<Attacked> =>
        attackTarget(kind, { folder: join(folder, kind), small, print }, signal)
      // The small size measures no latency.
      const attacked = small
        ? await Promise.all(kinds.map(attackKind))
        : [await attackKind('command'), await attackKind('mounted')]
      const results = attacked.flatMap(({ results }) => results)
      const pushes = attacked.flatMap(({ pushes }) => pushes)
      for (const line of table(results, small)) print(line)
      const unserved = pushes.filter(({ status }) => status !== 200)
      const wrong = [
        ...results.flatMap(({ kind, attack, wrong }) =>
          wrong === undefined ? [] : [`${attack.name} (${kind}): ${wrong}`],
        ),
        ...(unserved.length > 0 ? [`${unserved.length} pushes of the other brand were not served`] : []),
      ]
      assert.equal(wrong.length, 0, `${wrong.length} errors:\n${wrong.join('\n')}`)
      return {
        attacks: results.length,
        refused: results.length,
        memory_mb: megabytes(Math.max(...results.map(({ memory }) => memory))),
        metrics_bytes: Math.max(...results.map(({ metrics }) => metrics)),
        ...(!small && { latency_factor: rounded(Math.max(...results.map(latencyFactor))) }),
        bystander_pushes: pushes.length,
      }
    } finally {
      if (!small) setPriority(priority)
    }
  },
}

interface Attacked {
  readonly results: readonly AttackResult[]
  /** The pushes of the other brand. */
  readonly pushes: readonly Sample[]
}

const kinds = ['command', 'mounted'] as const

/** Starts both sides in this way, and tries the attacks one after the other. */
async function attackTarget(
  kind: Kind,
  { folder, small, print }: ProofOptions,
  signal: AbortSignal,
): Promise<Attacked> {
  const target = await startTarget(folder, kind, small, signal)
  const latency = await startBystander(target, signal)
  const chosen = attacks.filter(
    ({ mounted }) => kind === 'command' || mounted === 'always' || (mounted === 'full' && !small),
  )
  const results: AttackResult[] = []
  try {
    await warmUp(target, latency)
    for (const attack of chosen) {
      const result = { kind, ...(await tryAttack(attack, target, latency, signal)) }
      results.push(result)
      // A full run takes long.
      if (!small) print(`${kind}: ${attack.name}: ${result.wrong ?? 'refused'}`)
    }
    return { results, pushes: latency.samples }
  } finally {
    await latency.stop()
  }
}

/** Starts sending pushes continuously to a user of brand 2 who has a device at each service. */
async function startBystander(target: Target, signal: AbortSignal): Promise<Latency> {
  const user = 'bystander'
  const player = await target.userApp('2', user)
  const tokens = await Promise.all(
    (['fcm', 'apns'] as const).map(async (service) => (await target.device(service)).link),
  )
  assert.equal((await player.request('POST', '/app/devices/link', { tokens })).status, 200)
  const body = JSON.stringify(activity('2', user)).replace(/"id":\d+/, '"id":ID')
  const key = target.keys['2'] as string
  // The small size measures no latency.
  const restMs = target.small ? 300 : 5
  return measureLatency({ url: `${target.operator.url}/channels/push/single`, key, body, restMs }, signal)
}

/** Sends ordinary messages, so that the operator's heap has its working size and growth is caused by attacks. */
async function warmUp(target: Target, latency: Latency): Promise<void> {
  await latency.next(target.small ? 3 : 500)
  for (let i = 0; i < (target.small ? 2 : 30); i++)
    await pushForty(target, 'nobody', { data: { text: 'a'.repeat(90_000) } })
}

async function tryAttack(attack: Attack, target: Target, latency: Latency, signal: AbortSignal): Promise<Trial> {
  await attack.prepare?.(target)
  let result = await tryOnce(attack, target, latency, signal)
  for (let round = 1; round < rounds && isSlower(result, target) && result.wrong === undefined; round++) {
    const repeated = await tryOnce(attack, target, latency, signal)
    if (repeated.wrong !== undefined || latencyFactor(repeated) < latencyFactor(result)) result = repeated
  }
  return isSlower(result, target) ? { wrong: 'the other brand became slower', ...result } : result
}

async function tryOnce(attack: Attack, target: Target, latency: Latency, signal: AbortSignal): Promise<Trial> {
  const { operator, platform, small } = target
  const count = small ? samples.small : samples.full
  const before = await latency.next(count)
  const metricsBefore = (await target.metrics()).length
  const memory = trackMemory([operator.pid, platform.pid])
  const from = latency.samples.length
  let wrong: string | undefined
  try {
    do await attack.run(target, signal)
    while (!small && latency.samples.length < from + count)
  } catch (error) {
    if (!(error instanceof assert.AssertionError)) throw new Error(`${attack.name}: ${inspect(error)}`)
    wrong = error.message.split('\n', 1)[0] as string
  }
  const during = latency.samples.slice(from)
  const cost = { memory: memory.stop(), metrics: (await target.metrics()).length - metricsBefore }
  if (cost.memory > (attack.maxMemoryBytes ?? maxMemoryBytes)) wrong ??= 'memory grew'
  if (cost.metrics > maxMetricsBytes) wrong ??= 'the metrics grew'
  return { attack, ...(wrong !== undefined && { wrong }), ...cost, before, during }
}

/** @returns the largest growth of any of these processes, when stopped */
function trackMemory(pids: readonly number[]): { stop(): number } {
  const before = pids.map(memoryOf)
  let most = 0
  const check = (): void => {
    for (const [i, pid] of pids.entries()) most = Math.max(most, memoryOf(pid) - (before[i] as number))
  }
  const timer = setInterval(check, 20).unref()
  return {
    stop() {
      clearInterval(timer)
      check()
      return most
    },
  }
}

/** Only the full size has enough samples. */
const isSlower = (result: Trial, { small }: Target): boolean => !small && latencyFactor(result) > maxLatencyFactor

/** The factor by which the median rose. */
const latencyFactor = ({ before, during }: Trial): number =>
  quantile(times(during), 0.5) / Math.max(minMedian, quantile(times(before), 0.5))

const times = (samples: readonly Sample[]): readonly number[] => samples.map(({ ms }) => ms)
const rounded = (value: number): number => Math.round(value * 10) / 10
const megabytes = (bytes: number): number => rounded(bytes / 1024 / 1024)

function table(results: readonly AttackResult[], small: boolean): readonly string[] {
  const rows = results.map(({ kind, attack, wrong, memory, metrics, before, during }) => [
    `${attack.name}${kind === 'mounted' ? ', mounted' : ''}`,
    wrong === undefined ? 'refused' : 'NOT REFUSED',
    `+${megabytes(memory)} MB`,
    `${metrics < 0 ? '' : '+'}${metrics} B`,
    ...(small ? [] : [spread(before), spread(during)]),
    wrong ?? attack.expected,
  ])
  const head = ['attack', 'verdict', 'memory', '/metrics', ...(small ? [] : ['p50/p95 before', 'during']), 'because']
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] as string).length)))
  return [head, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd(),
  )
}

const spread = (samples: readonly Sample[]): string =>
  `${rounded(quantile(times(samples), 0.5))}/${rounded(quantile(times(samples), 0.95))} ms`
