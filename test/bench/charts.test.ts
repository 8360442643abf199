import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { drawnFiles } from '../../bench/charts.ts'
import { drawChart } from '../../bench/harness/bar-chart.ts'
import { addResult, type Result, readResults } from '../../bench/harness/results.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('the charts and the tables of figures in docs are current', () => {
  const drawn = drawnFiles(readResults(join(root, 'bench/results.json')))
  for (const [path, content] of drawn) assert.ok(read(path) === content, `${path} is outdated; run: npm run charts`)
})

test('a missing result is named with the command that measures it', () => {
  assert.throws(
    () => drawnFiles([]),
    /lacks durable-single-sqlite-64: npm run bench -- durable-single-sqlite-64 --json bench\/results\.json/,
  )
})

test('bars begin at zero and are as long as their values; text is escaped', () => {
  const bars = [10, 5, 0].map((value) => ({ value, text: `${value} <msg>`, of: 'subject' }) as const)
  const rows = [{ label: 'A & B', note: '', bars }]
  const svg = drawChart({ title: 'T', about: '', legend: [], panels: [{ title: '', axis: String, rows }] })
  const [ten = 0, five, none] = [...svg.matchAll(/class="subject" x="324" .*?width="([\d.]+)"/g)].map(([, w]) =>
    Number(w),
  )
  assert.deepEqual([five, none], [ten / 2, 0])
  assert.match(svg, /A &amp; B/)
  assert.match(svg, /10 &lt;msg>/)
  assert.match(svg, /text-anchor="middle">0</)
})

test('a result replaces the earlier one of the same benchmark and size', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-results-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'results.json')
  const result = (name: string, ratio: number, size?: number) =>
    ({ name, ratio, ...(size !== undefined && { size }) }) as Result
  for (const each of [result('b', 1), result('a', 2), result('b', 3), result('b', 4, 1000)]) addResult(file, each)
  assert.deepEqual(readResults(file), [result('a', 2), result('b', 3), result('b', 4, 1000)])
})
