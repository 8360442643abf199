// The Grafana dashboard: each of its queries is PromQL over metrics and labels that /metrics has.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { stringify } from 'yaml'
import { metrics } from '../../src/base/runtime/metrics.ts'
import { writeMetrics } from '../../src/tools/cli/doctor/canary.ts'
import { temporary } from '../support/sides.ts'
import { deploy, promtool, rules, withoutPromtool } from './promtool.ts'

interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const { panels } = JSON.parse(readFileSync(join(deploy, 'grafana/bellwire.json'), 'utf8')) as { panels: Panel[] }
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, legendFormat, expr: expr.replaceAll('$__rate_interval', '1m') })),
)

test('each query of the dashboard is PromQL', { skip: await withoutPromtool() }, async (t) => {
  assert.ok(queries.length > 15, String(queries.length))
  const file = join(await temporary(t), 'queries.yml')
  const recorded = queries.map(({ expr }, i) => ({ record: `query_${i}`, expr }))
  await writeFile(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
  await promtool('check', 'rules', file)
})

test('the metrics and labels of the dashboard and of the alert rules are those of /metrics and of the canary', async (t) => {
  const labelsOf = new Map<string, readonly string[]>()
  for (const metric of metrics().registry.getMetricsAsArray() as unknown as {
    name: string
    type?: string
    labelNames?: readonly string[]
  }[]) {
    const labels = metric.labelNames ?? []
    labelsOf.set(metric.name, labels)
    if (metric.type === 'histogram')
      for (const part of ['bucket', 'sum', 'count']) labelsOf.set(`${metric.name}_${part}`, [...labels, 'le'])
  }
  const file = join(await temporary(t), 'canary.prom')
  const canary = { ok: true, through: 'operator', activity_id: '1', brand: '1', channel: 'push', seconds: 1 } as const
  await writeMetrics(file, canary)
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^(bellwire_\w+)\{brand="1",channel="push"\}/gm))
    labelsOf.set(name, ['brand', 'channel'])
  /** Prometheus adds these to each series. */
  const ofTarget = ['job', 'instance']
  for (const { title, expr, legendFormat = '' } of [
    ...queries,
    ...rules.map(({ alert, expr }) => ({ title: alert, expr, legendFormat: undefined })),
  ]) {
    const names = [...expr.matchAll(/\b(?:bellwire|process|nodejs)_\w+|\bup\b/g)].map(([name]) => name)
    assert.ok(names.length > 0, title)
    const unknown = names.filter((name) => name !== 'up' && !labelsOf.has(name))
    assert.deepEqual(unknown, [], title)
    const known = new Set([...names.flatMap((name) => labelsOf.get(name) ?? []), ...ofTarget])
    const used = [
      ...[...expr.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g)].flatMap(([, list = '']) => list.split(', ')),
      ...[...expr.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label),
      ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
    ]
    assert.deepEqual(
      used.filter((label) => !known.has(label)),
      [],
      `${title}: ${expr}`,
    )
  }
})

test('the panels of the dashboard do not overlap, and each has a number of its own', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  )
  assert.equal(new Set(cells).size, cells.length)
})
