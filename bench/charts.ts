// npm run charts    draws docs/charts/*.svg and writes the tables of docs/performance.md and docs/contributing/performance.md, all
// from bench/results.json

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bar, type Chart, drawChart, type Row } from './harness/bar-chart.ts'
import { type Result, readResults } from './harness/results.ts'
import { benchmarks } from './list.ts'

const root = join(import.meta.dirname, '..')
const million = 1_000_000

/** The files that the results determine, by path. */
export function drawnFiles(results: readonly Result[]): ReadonlyMap<string, string> {
  const find = finder(results)
  return new Map([
    ['docs/charts/speed.svg', drawChart(speed(find))],
    ['docs/charts/ratios.svg', drawChart(ratios(results, find))],
    ['docs/charts/memory.svg', drawChart(memory(find))],
    withTable('docs/performance.md', 'answers', answers(find)),
    withTable('docs/contributing/performance.md', 'figures', figures(results)),
  ])
}

type Find = (name: string, size?: number) => Result

function finder(results: readonly Result[]): Find {
  return (name, size) => {
    const found = results.find((each) => each.name === name && each.size === size)
    if (found) return found
    const option = size === undefined ? '' : ` --size ${size}`
    throw new Error(`bench/results.json lacks ${name}: npm run bench -- ${name}${option} --json bench/results.json`)
  }
}

function speed(find: Find): Chart {
  const used: Result[] = []
  const row = (label: string, name: string): Row => {
    const result = find(name)
    used.push(result)
    const { subject_per_second: subject = 0, baseline_per_second: baseline = 0 } = result
    const against = name === 'end-to-end' ? 'the slower side alone' : 'the same server without a store'
    const bar = (of: Bar['of'], value: number): Bar => ({ of, value, text: `${thousands(value)} msg/s` })
    return { label, note: `baseline: ${against}`, bars: [bar('subject', subject), bar('baseline', baseline)] }
  }
  const singles = [
    row('SQLite, 64 connections', 'durable-single-sqlite-64'),
    row('SQLite, 256 connections', 'durable-single-sqlite-256'),
    row('PostgreSQL, 64 connections', 'durable-single-postgres-64'),
    row('PostgreSQL, 256 connections', 'durable-single-postgres-256'),
  ]
  const batches = [
    row('Operator, SQLite', 'durable-batch-sqlite'),
    row('Operator, PostgreSQL', 'durable-batch-postgres'),
    row('Platform to operator, SQLite', 'end-to-end'),
  ]
  return {
    title: 'Messages per second',
    about: `Each message is claimed and settled on disk before the answer; one core for each side. ${conditions(used)}`,
    legend: [
      { of: 'subject', text: 'Bellwire' },
      { of: 'baseline', text: 'baseline, in the same run' },
    ],
    panels: [
      {
        title: 'One message in each request',
        axis: thousands,
        rows: singles,
      },
      {
        title: '1,000 messages in each request',
        axis: thousands,
        rows: batches,
      },
    ],
  }
}

/** The chart shows these, each with a short name of its baseline. The table of figures has all. */
const compared: readonly (readonly [name: string, label: string, baseline: string])[] = [
  ['ingest-single', 'Receiving single messages, no store', 'bare node:http and JSON.parse'],
  ['ingest-batch', 'Receiving batches, no store', 'bare node:http and JSON.parse'],
  ['durable-single-sqlite-64', 'Single messages, SQLite', 'the same server without a store'],
  ['durable-single-postgres-64', 'Single messages, PostgreSQL', 'the same server without a store'],
  ['durable-batch-sqlite', 'Batches, SQLite', 'the same server without a store'],
  ['durable-batch-postgres', 'Batches, PostgreSQL', 'the same server without a store'],
  ['end-to-end', 'Platform to operator, SQLite', 'the slower side alone'],
  ['push-fcm', 'Sending to FCM', 'a bare loop of the same HTTP/2 client'],
  ['push-apns', 'Sending to APNs', 'a bare loop of the same HTTP/2 client'],
  ['push-operator-fcm', 'A whole operator with FCM, by CPU', 'a bare loop of node:http2'],
  ['reconcile-stream-postgres', 'Streaming 5 million ids, PostgreSQL', 'psql'],
  ['reconcile-compare-postgres', 'Comparing 5 million ids, PostgreSQL', 'sort, sort, comm'],
  ['reconcile-compare-sqlite', 'Comparing 5 million ids, SQLite', 'sort, sort, comm'],
]

function ratios(results: readonly Result[], find: Find): Chart {
  const rows = compared.map(([name, label, against]): Row => {
    const { ratio, min, max, goal, date } = find(name)
    const text = `${two(ratio)} on ${monthDay(date)}`
    return { label, note: `against ${against}`, bars: [{ of: 'subject', value: ratio, text, range: [min, max], goal }] }
  })
  const missing = results.filter(({ name, size }) => size === undefined && !compared.some(([each]) => each === name))
  return {
    title: 'Speed as a ratio to a named baseline',
    about: `1 is as fast as the baseline, measured in the same run. ${missing.length} more benchmarks are in the table.`,
    legend: [
      { of: 'subject', text: 'median of the rounds, and its date' },
      { of: 'range', text: 'slowest to fastest round' },
      { of: 'goal', text: 'goal' },
    ],
    panels: [
      { title: '', rows, line: { at: 1, label: '1 = baseline' }, axis: (value) => value.toFixed(2).replace(/0$/, '') },
    ],
  }
}

function memory(find: Find): Chart {
  const bar = (of: Bar['of'], { subject_peak_mb: value = 0 }: Result, what: string): Bar => ({
    of,
    value,
    text: `${value} MB${what}`,
  })
  const load = (label: string, note: string, name: string): Row => ({
    label,
    note,
    bars: [bar('subject', find(name), '')],
  })
  const growth = (label: string, note: string, name: string): Row => ({
    label,
    note,
    bars: [bar('subject', find(name), ', 5 million'), bar('baseline', find(name, million), ', 1 million')],
  })
  const names = ['durable-single-sqlite-64', 'durable-batch-sqlite', 'durable-batch-postgres', 'push-operator-fcm']
  const axis = (value: number): string => `${value} MB`
  return {
    title: 'Peak memory',
    about: `Resident memory of the Node process. ${conditions([...names, 'reconcile-stream-postgres'].map((name) => find(name)))}`,
    legend: [
      { of: 'subject', text: 'under load; with 5 million ids' },
      { of: 'baseline', text: 'the same program with 1 million ids' },
    ],
    panels: [
      {
        title: 'An operator under full load',
        axis,
        rows: [
          load('Single messages, SQLite', '64 connections', names[0] as string),
          load('Batches of 1,000, SQLite', '4 connections', names[1] as string),
          load('Batches of 1,000, PostgreSQL', '4 connections', names[2] as string),
          load('Batches of 1,000 to FCM, SQLite', '1,000 concurrent sends', names[3] as string),
        ],
      },
      {
        title: 'Lists of users: five times as many ids',
        axis,
        rows: [
          growth('Operator streams a list', '', 'reconcile-stream-postgres'),
          growth('Platform compares a list, SQLite', '', 'reconcile-compare-sqlite'),
          growth('Platform compares a list, PostgreSQL', '', 'reconcile-compare-postgres'),
        ],
      },
    ],
  }
}

/** The table of what users ask first. */
function answers(find: Find): string {
  const rate = (name: string): string => `**${thousands(find(name).subject_per_second ?? 0)}**`
  const peak = (name: string, size?: number): string => `${find(name, size).subject_peak_mb} MB`
  const pushes = find('push-operator-fcm')
  const rows = {
    'How fast is one operator process?': `${rate('durable-single-sqlite-64')} messages a second one by one, ${rate('durable-batch-sqlite')} in batches of 1,000 (SQLite)`,
    'And on PostgreSQL?': `${rate('durable-single-postgres-64')} messages a second one by one, ${rate('durable-batch-postgres')} in batches of 1,000`,
    'And through both sides?': `${rate('end-to-end')} messages a second, from the first record sent to the last outcome stored. The requirement is ${thousands(find('end-to-end').least_per_second ?? 0)}`,
    'And with pushes to FCM?': `${rate('push-operator-fcm')} messages a second, for ${(1 / pushes.ratio).toFixed(1)} times the CPU of a bare loop that only sends`,
    'How much memory?': `${peak('durable-single-sqlite-64')} with single messages, ${peak('durable-batch-sqlite')} with batches, ${peak('push-operator-fcm')} with pushes, at full load`,
    'How does memory grow?': `Hardly with the length of a list: ${peak('reconcile-compare-sqlite', million)} to compare 1 million users, ${peak('reconcile-compare-sqlite')} for 5 million`,
    'Measured against what?': `A baseline in the same run: the same server without a store, a bare loop of the same client, \`psql\`, \`sqlite3\`, \`sort\` and \`comm\`, or pg-boss`,
  }
  return `| Question | Answer |\n|---|---|\n${Object.entries(rows)
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')}`
}

/** The day when the operator's storage became one row for each message. Figures of these benchmarks are older before it. */
const storageSince = '2026-11-23'
const onStorage = /^(durable|end-to-end|push-operator|push-latency)/

/** The table of all results. */
function figures(results: readonly Result[]): string {
  const order = benchmarks.map(({ name }) => name)
  const rows = results
    .filter(({ size }) => size === undefined)
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map(({ name, baseline, goal, ratio, min, max, by, ok, subject_per_second: rate, date, node }) => {
      const old = onStorage.test(name) && date < storageSince ? ', **before the present storage**' : ''
      const measured = `${ok ? two(ratio) : `**${two(ratio)}**`} (${two(min)}–${two(max)})${by === 'CPU' ? ', by CPU' : ''}`
      return `| \`${name}\` | ${baseline} | ${two(goal)} | ${measured} | ${rate === undefined ? '' : thousands(rate)} | ${monthDay(date)}, Node ${node.split('.')[0]}${old} |`
    })
  return `| Benchmark | Baseline | Goal | Ratio (slowest to fastest round) | Per second | Measured |\n|---|---|---|---|---|---|\n${rows.join('\n')}`
}

/** @returns the page with its new table */
function withTable(path: string, name: string, table: string): [path: string, content: string] {
  const page = readFileSync(join(root, path), 'utf8')
  const [begin, end] = [`<!-- ${name}: written by \`npm run charts\` -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${path} lacks the lines ${begin} and ${end}`)
  return [path, `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`]
}

/** @example '23 November 2026, Node 26.10.0' */
function conditions(results: readonly Result[]): string {
  const dates = [...new Set(results.map(({ date }) => date))].toSorted()
  const nodes = [...new Set(results.map(({ node }) => node))]
  const days =
    dates.length === 1
      ? monthDay(dates[0] as string)
      : `${monthDay(dates[0] as string)} to ${monthDay(dates.at(-1) as string)}`
  return `${days} ${dates.at(-1)?.slice(0, 4)}, Node ${nodes.join(' and ')}.`
}

function monthDay(date: string): string {
  return new Date(date).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

function thousands(value: number): string {
  return value.toLocaleString('en')
}

function two(value: number): string {
  return value.toFixed(2)
}

if (import.meta.main)
  for (const [path, content] of drawnFiles(readResults(join(root, 'bench/results.json'))))
    writeFileSync(join(root, path), content)
