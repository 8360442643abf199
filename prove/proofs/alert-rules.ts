import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Prometheus, startPrometheus } from '../harness/prometheus.ts'
import type { Figures, Proof } from '../harness/proof.ts'
import { runCommand } from '../harness/send-command.ts'
import { faults } from './alert-rules/faults.ts'
import { brandOf, comparedUser, deadUsers, names, type Sides, startSides } from './alert-rules/sides.ts'

/** By this the durations in the rules are divided for the faults. The sides report refused keys once a minute, so it cannot be larger. */
const divisor = 10
const canaryEveryMs = 5 * 60_000
/** The lanes of ordinary work, one message a second in turn. */
const ordinary = Object.values(brandOf).filter((brand) => brand !== brandOf.hungOperator && brand !== brandOf.fullDisk)

export const alertRules: Proof = {
  name: 'alert-rules',
  claims:
    'a real Prometheus with the rules of the package reads five operators and a platform: no rule fires in an hour of ordinary work, and each fires on its real fault and ends after the remedy',
  needs: ['promtool', 'rabbitmq'],
  boundSeconds: { small: 1_800, full: 6_600 },
  onlyByHand: true,
  async run({ small, folder, print }, signal) {
    const minutes = small ? 1 : 60
    const sides = await startSides(folder, signal)
    let prometheus: Prometheus | undefined
    const start = async (by: number): Promise<Prometheus> => {
      await prometheus?.stop()
      prometheus = await startPrometheus({ folder, sides: sides.addresses, node: sides.node, divisor: by })
      return prometheus
    }
    try {
      for (const name of names) await sides.start(name)
      await prepare(sides)
      const quiet = await workOrdinarily(sides, await start(1), minutes, signal)
      print(
        `${minutes} min of ordinary work, ${quiet.messages} messages: no rule fired; pending for a time: ${quiet.pending || 'none'}`,
      )
      print(`for the faults, all durations in the rules are divided by ${divisor}`)
      const raised = await raiseAndEnd(sides, await start(divisor), print, signal)
      return { minutes, messages: quiet.messages, cpu_percent: quiet.cpuPercent, ...raised }
    } finally {
      await prometheus?.stop()
      await sides.stop()
    }
  },
}

async function prepare(sides: Sides): Promise<void> {
  for (const brand of ordinary)
    if (brand !== brandOf.noText && brand !== brandOf.goneOperator)
      await sides.link(brand, ['someone'], brand === brandOf.pausedService ? 'apns' : 'firebase')
  sides.ends.dead = await sides.link(brandOf.deadDevices, deadUsers)
  await sides.importCrm(brandOf.ordinary, `user_id,excluded,updated_at\n${comparedUser},false,2026-01-01T00:00:00Z\n`)
}

/** Sends messages and canaries, and reads the discrepancies, as long as it is not stopped. */
function startWork(sides: Sides, dividedBy: number) {
  let stopped = false
  let messages = 0
  // A fault may refuse it.
  const send = (one: () => Promise<void>): Promise<void> =>
    one().then(
      () => void messages++,
      () => {},
    )
  const working = (async () => {
    let canaryAt = 0
    for (let second = 0; !stopped; second++) {
      const brand = ordinary[second % ordinary.length] as number
      await send(() => sides.send(brand, ['someone'], brand === brandOf.noText ? 'site' : 'push'))
      if (brand === brandOf.ordinary) {
        await send(() => sides.send(brand, ['someone'], 'site'))
        void send(() => sides.publish(brand, 'someone'))
      }
      if (Date.now() >= canaryAt) {
        canaryAt = Date.now() + canaryEveryMs / dividedBy
        void runCommand(canaryOf(sides))
      }
      await sleep(1_000)
    }
  })()
  return {
    messages: () => messages,
    async stop(): Promise<void> {
      stopped = true
      await working
    },
  }
}

const canaryOf = (sides: Sides): readonly string[] => [
  ...['doctor', '--send', 'someone', '--brand', String(brandOf.pausedLane), '--timeout', '10s'],
  ...['--config', sides.configOf('platform'), '--metrics-file', sides.canary],
]

async function workOrdinarily(sides: Sides, prometheus: Prometheus, minutes: number, signal: AbortSignal) {
  const work = startWork(sides, 1)
  await sleep(minutes * 60_000, undefined, { signal })
  await work.stop()
  const range = `[${minutes}m]`
  const alerts = async (state: string): Promise<string> => {
    const found = await prometheus.query(`max by (alertname) (max_over_time(ALERTS{alertstate="${state}"}${range}))`)
    return found.map(({ labels }) => labels.alertname).join(', ')
  }
  const failed = await prometheus.query('bellwire_items_total{category="failed"} > 0')
  assert.deepEqual(failed, [], 'messages that failed in ordinary work')
  assert.equal(await alerts('firing'), '', 'rules that fired in ordinary work')
  const up = await prometheus.query(`min_over_time(up${range})`)
  assert.equal(up.length, sides.addresses.length + 1)
  assert.ok(
    up.every(({ value }) => value === 1),
    'each side was read all the time',
  )
  assert.deepEqual(await prometheus.ruleErrors(), [])
  assert.ok(work.messages() >= 54 * minutes, `only ${work.messages()} messages were accepted`)
  const [cpu] = await prometheus.query(`100 * sum(rate(process_cpu_seconds_total{job="bellwire"}${range}))`)
  return {
    messages: work.messages(),
    pending: await alerts('pending'),
    cpuPercent: Math.round((cpu?.value ?? 0) * 10) / 10,
  }
}

async function raiseAndEnd(
  sides: Sides,
  prometheus: Prometheus,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<Figures> {
  const work = startWork(sides, divisor)
  const repeated = startRepeating(sides)
  try {
    await sleep(30_000, undefined, { signal })
    assert.deepEqual(await prometheus.firing(), [], 'before the faults')
    const began = new Map<string, number>()
    for (const [name, { begin }] of Object.entries(faults)) {
      began.set(name, Date.now())
      await begin?.(sides, signal).catch((error: Error) => assert.fail(`${name}: ${error.message}`))
    }
    repeated.start()
    const seconds = (since: number): number => Math.round((Date.now() - since) / 1_000)
    const firedAfter = new Map<string, number>()
    while (firedAfter.size < began.size) {
      for (const alert of await prometheus.firing()) {
        const name = alert.alertname as string
        if (firedAfter.has(name) || !isOf(alert, faults[name]?.labels?.(sides))) continue
        firedAfter.set(name, seconds(began.get(name) as number))
      }
      if (signal.aborted)
        assert.fail(`silent on their fault: ${[...began.keys()].filter((name) => !firedAfter.has(name)).join(', ')}`)
      await sleep(500)
    }
    const queries = await runDashboard(prometheus)

    await repeated.stop()
    const remedied = Date.now()
    for (const [name, { end }] of Object.entries(faults))
      await end?.(sides, signal).catch((error: Error) => assert.fail(`${name}: ${error.message}`))
    const endedAfter = new Map<string, number>()
    for (;;) {
      const firing = new Set((await prometheus.firing()).map(({ alertname }) => alertname as string))
      for (const name of began.keys())
        if (firing.has(name)) endedAfter.delete(name)
        else if (!endedAfter.has(name)) endedAfter.set(name, seconds(remedied))
      if (firing.size === 0) break
      if (signal.aborted) assert.fail(`still firing after the remedy: ${[...firing].join(', ')}`)
      await sleep(500)
    }
    for (const name of began.keys())
      print(`${name}: fired after ${firedAfter.get(name)} s, ended after ${endedAfter.get(name)} s`)
    return { rules: began.size, dashboard_queries: queries }
  } finally {
    await repeated.stop()
    await work.stop()
  }
}

const isOf = (alert: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(labels).every(([name, value]) => alert[name] === value)

/** Repeats the faults once a second. */
function startRepeating(sides: Sides) {
  let running: Promise<void> | undefined
  let stopped = false
  return {
    start(): void {
      running = (async () => {
        while (!stopped) {
          await Promise.all(Object.values(faults).map((fault) => fault.repeat?.(sides).catch(() => {})))
          await sleep(1_000)
        }
      })()
    },
    async stop(): Promise<void> {
      stopped = true
      await running
    },
  }
}

/** @returns how many queries the dashboard has. Each has a series while every fault lasts */
async function runDashboard(prometheus: Prometheus): Promise<number> {
  const file = join(import.meta.dirname, '../../deploy/grafana/bellwire.json')
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: { targets?: { expr: string }[] }[] }
  const queries = panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m')),
  )
  const empty: string[] = []
  for (const query of queries) if ((await prometheus.query(query)).length === 0) empty.push(query)
  assert.deepEqual(empty, [], 'queries of the dashboard without a series')
  return queries.length
}
