import assert from 'node:assert/strict'
import { constants, getPriority, setPriority } from 'node:os'
import { type Latency, measureLatency, quantile, type Sample } from '../harness/latency.ts'
import { memoryOf } from '../harness/process.ts'
import type { Proof } from '../harness/proof.ts'
import { type Attack, attacks, pushForty } from './strangers/attacks.ts'
import { activity, startTarget, type Target } from './strangers/target.ts'

/** Growth of one process. A process that received the bodies of H1 would grow by 100 MB of garbage, one that kept them by 343 MB. */
const mostMemory = 48 * 1024 * 1024
/** New outcomes make a few series; one for each device or each kind makes thousands. */
const mostMetrics = 4 * 1024
const mostFactor = 2
/** Below this, the scheduler of a busy machine is all that one measures: for the median and for the 95th percentile. */
const least = [
  [0.5, 5],
  [0.95, 25],
] as const
/** Requests of the other brand before and during each attack. */
const samples = { small: 10, full: 300 }
/** A machine has other things to do: a latency counts as higher if it is so each time. */
const rounds = 3

interface Seen {
  readonly attack: Attack
  /** Absent: it came to nothing, as it must. */
  readonly wrong?: string
  readonly memory: number
  readonly metrics: number
  readonly before: readonly Sample[]
  readonly during: readonly Sample[]
}

export const strangers: Proof = {
  name: 'strangers',
  claims:
    'what strangers, players and one brand can try is refused, costs no memory and no metrics, and slows no other brand',
  boundSeconds: { small: 240, full: 1_200 },
  async run({ small, folder, say }, signal) {
    const target = await startTarget(folder, small, signal)
    const latency = await startBystander(target, signal)
    // Strangers have machines of their own: this thread, which attacks, takes no processor from those who are measured.
    const priority = getPriority()
    if (!small) setPriority(constants.priority.PRIORITY_LOW)
    try {
      const seen: Seen[] = []
      await warmUp(target, latency)
      for (const attack of attacks) seen.push(await tryAttack(attack, target, latency, signal))
      for (const line of table(seen, small)) say(line)
      const unserved = latency.samples.filter(({ status }) => status !== 200)
      const wrong = [
        ...seen.flatMap(({ attack, wrong }) => (wrong === undefined ? [] : [`${attack.name}: ${wrong}`])),
        ...(unserved.length > 0 ? [`${unserved.length} pushes of the other brand were not served`] : []),
      ]
      assert.equal(wrong.length, 0, `${wrong.length} wrong:\n${wrong.join('\n')}`)
      return {
        attacks: seen.length,
        refused: seen.length,
        memory_mb: megabytes(Math.max(...seen.map(({ memory }) => memory))),
        metrics_bytes: Math.max(...seen.map(({ metrics }) => metrics)),
        ...(!small && { latency_factor: rounded(Math.max(...seen.map(factorOf))) }),
        bystander_pushes: latency.samples.length,
      }
    } finally {
      await latency.stop()
      if (!small) setPriority(priority)
    }
  },
}

/** A user of brand 2 who has a device at each service, and gets one push after another. */
async function startBystander(target: Target, signal: AbortSignal): Promise<Latency> {
  const user = 'bystander'
  const player = await target.player('2', user)
  const tokens = await Promise.all(
    (['fcm', 'apns'] as const).map(async (service) => (await target.device(service)).link),
  )
  assert.equal((await player.ask('POST', '/app/devices/link', { tokens })).status, 200)
  const body = JSON.stringify(activity('2', user)).replace(/"id":\d+/, '"id":ID')
  const key = target.keys['2'] as string
  return measureLatency({ url: `${target.operator.url}/channels/push/single`, key, body, restMs: 5 }, signal)
}

/** Ordinary messages of every size: the heap of the operator then has its working size, and growth is due to an attack. */
async function warmUp(target: Target, latency: Latency): Promise<void> {
  await latency.next(500)
  for (let i = 0; i < 30; i++) await pushForty(target, 'nobody', { data: { text: 'a'.repeat(90_000) } })
}

async function tryAttack(attack: Attack, target: Target, latency: Latency, signal: AbortSignal): Promise<Seen> {
  await attack.prepare?.(target)
  let seen = await tryOnce(attack, target, latency, signal)
  for (let round = 1; round < rounds && isSlower(seen, target) && seen.wrong === undefined; round++) {
    const again = await tryOnce(attack, target, latency, signal)
    if (again.wrong !== undefined || factorOf(again) < factorOf(seen)) seen = again
  }
  return isSlower(seen, target) ? { wrong: 'the other brand was slower', ...seen } : seen
}

async function tryOnce(attack: Attack, target: Target, latency: Latency, signal: AbortSignal): Promise<Seen> {
  const { operator, platform, small } = target
  const count = small ? samples.small : samples.full
  const before = await latency.next(count)
  const metricsBefore = (await target.metrics()).length
  const memory = followMemory([operator.pid, platform.pid])
  const from = latency.samples.length
  let wrong: string | undefined
  try {
    do await attack.run(target, signal)
    while (!small && latency.samples.length < from + count)
  } catch (error) {
    if (!(error instanceof assert.AssertionError)) throw error
    wrong = error.message.split('\n', 1)[0] as string
  }
  const during = latency.samples.slice(from)
  const cost = { memory: memory.stop(), metrics: (await target.metrics()).length - metricsBefore }
  if (cost.memory > mostMemory) wrong ??= 'memory grew'
  if (cost.metrics > mostMetrics) wrong ??= 'the metrics grew'
  return { attack, ...(wrong !== undefined && { wrong }), ...cost, before, during }
}

/** By how much the process that grew most grew, at its largest. */
function followMemory(pids: readonly number[]): { stop(): number } {
  const before = pids.map(memoryOf)
  let most = 0
  const look = (): void => {
    for (const [i, pid] of pids.entries()) most = Math.max(most, memoryOf(pid) - (before[i] as number))
  }
  const timer = setInterval(look, 20)
  return {
    stop() {
      clearInterval(timer)
      look()
      return most
    },
  }
}

/** Only in full size is there enough to measure. */
const isSlower = (seen: Seen, { small }: Target): boolean => !small && factorOf(seen) > mostFactor

/** By how much the median, or the 95th percentile if it is more, was higher than before. */
function factorOf({ before, during }: Seen): number {
  const factors = least.map(
    ([share, leastMs]) => quantile(times(during), share) / Math.max(leastMs, quantile(times(before), share)),
  )
  return Math.max(...factors)
}

const times = (of: readonly Sample[]): readonly number[] => of.map(({ ms }) => ms)
const rounded = (value: number): number => Math.round(value * 10) / 10
const megabytes = (bytes: number): number => rounded(bytes / 1024 / 1024)

function table(seen: readonly Seen[], small: boolean): readonly string[] {
  const rows = seen.map(({ attack, wrong, memory, metrics, before, during }) => [
    attack.name,
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

const spread = (of: readonly Sample[]): string =>
  `${rounded(quantile(times(of), 0.5))}/${rounded(quantile(times(of), 0.95))} ms`
