// A chart of horizontal bars as plain SVG. It has its own background, so it is readable on any page, and follows light and dark.

export interface Bar {
  readonly value: number
  /** The exact figure with its unit, at the end of the bar. */
  readonly text: string
  readonly of: 'subject' | 'baseline'
  /** Minimum and maximum, as a thin line. */
  readonly range?: readonly [min: number, max: number]
  /** A mark across the bar. The figures of bars with a goal are in a column at the right. */
  readonly goal?: number
}

export interface Row {
  readonly label: string
  readonly note: string
  readonly bars: readonly Bar[]
}

/** Rows with an axis of their own, which begins at zero. */
export interface Panel {
  readonly title: string
  readonly rows: readonly Row[]
  /** A vertical line through the panel. */
  readonly line?: { readonly at: number; readonly label: string }
  /** Formats a number of the axis. */
  axis(value: number): string
}

export interface Chart {
  readonly title: string
  readonly about: string
  /** What the bars and marks are. */
  readonly legend: readonly { readonly of: Bar['of'] | 'goal' | 'range'; readonly text: string }[]
  readonly panels: readonly Panel[]
}

const width = 860
const margin = 24
const labels = 300
const figures = 132
const [left, right] = [margin + labels, width - margin - figures]
const bar = { high: 12, gap: 3 }
const rowGap = 18

const style = `
text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 } .panel, .label { font-weight: 600 } .muted { fill: #59636e; font-size: 12px }
.back { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #e4e8ec } .axis, .line { stroke: #8c959f } .line { stroke-dasharray: 4 3 }
.subject { fill: #2f6fab } .baseline { fill: #b6c0ca } .range { stroke: #1f2328; stroke-opacity: .7 } .goal { stroke: #bc4c00; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .muted { fill: #9198a1 }
.back { fill: #0d1117; stroke: #3d444d } .grid { stroke: #21262d } .axis, .line { stroke: #6e7681 }
.subject { fill: #5a9fd8 } .baseline { fill: #4a535e } .range { stroke: #e6edf3 } .goal { stroke: #f0883e } }
`

/** @returns the SVG document */
export function drawChart({ title, about, legend, panels }: Chart): string {
  const parts = [text(margin, 38, title, 'title'), text(margin, 59, about, 'muted')]
  let x = margin
  for (const { of, text: what } of legend) {
    parts.push(sample(of, x), text(x + 20, 86, what, 'muted'))
    x += 20 + what.length * 6.6 + 22
  }
  let y = 112
  for (const panel of panels) {
    const drawn = drawPanel(panel, y)
    parts.push(...drawn.parts)
    y = drawn.end + 30
  }
  const height = y - 12
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>${style}</style>
<rect class="back" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${parts.join('\n')}
</svg>
`
}

function drawPanel({ title, rows, line, axis }: Panel, top: number): { parts: string[]; end: number } {
  const most = Math.max(
    ...rows.flatMap(({ bars }) => bars.map(({ value, range }) => range?.[1] ?? value)),
    line?.at ?? 0,
  )
  const ticks = ticksTo(most)
  const scale = (value: number): number => round(left + ((right - left) * value) / (ticks.at(-1) as number))
  const heights = rows.map(({ bars }) => Math.max(30, bars.length * (bar.high + bar.gap)))
  const first = top + 22
  const end = first + heights.reduce((sum, height) => sum + height + rowGap, 0)
  const parts = [text(margin, top + 6, title, 'panel')]
  for (const tick of ticks) {
    const x = scale(tick)
    parts.push(
      vertical(tick === 0 ? 'axis' : 'grid', x, first - 6, end - 8),
      text(x, end + 7, axis(tick), 'muted', 'middle'),
    )
  }
  if (line) {
    const x = scale(line.at)
    parts.push(vertical('line', x, first - 6, end - 8), text(x, first - 11, line.label, 'muted', 'middle'))
  }
  let y = first
  for (const [i, row] of rows.entries()) {
    parts.push(...drawRow(row, y, scale))
    y += (heights[i] as number) + rowGap
  }
  return { parts, end }
}

function drawRow({ label, note, bars }: Row, top: number, scale: (value: number) => number): string[] {
  const parts = [text(margin, top + 12, label, 'label'), text(margin, top + 28, note, 'muted')]
  const begin = bars.length === 1 ? top + 7 : top + 2
  for (const [i, { value, text: figure, of, range, goal }] of bars.entries()) {
    const y = begin + i * (bar.high + bar.gap)
    const middle = y + bar.high / 2
    parts.push(
      `<rect class="${of}" x="${left}" y="${y}" width="${round(scale(value) - left)}" height="${bar.high}" rx="1.5"/>`,
    )
    if (range)
      parts.push(`<line class="range" x1="${scale(range[0])}" y1="${middle}" x2="${scale(range[1])}" y2="${middle}"/>`)
    if (goal !== undefined) parts.push(vertical('goal', scale(goal), y - 3, y + bar.high + 3))
    const x = goal === undefined ? Math.max(scale(value), range ? scale(range[1]) : 0) + 8 : right + 14
    parts.push(text(x, y + 10, figure, of === 'baseline' ? 'muted' : ''))
  }
  return parts
}

function sample(of: Chart['legend'][number]['of'], x: number): string {
  if (of === 'goal') return vertical('goal', x + 6, 75, 89)
  if (of === 'range') return `<line class="range" x1="${x}" y1="82" x2="${x + 14}" y2="82"/>`
  return `<rect class="${of}" x="${x}" y="76" width="13" height="12" rx="1.5"/>`
}

/** Round steps from zero to at least `most`. */
function ticksTo(most: number): readonly number[] {
  const rough = most / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) as number) * power
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => round(i * step))
}

function vertical(name: string, x: number, from: number, to: number): string {
  return `<line class="${name}" x1="${x}" y1="${from}" x2="${x}" y2="${to}"/>`
}

function text(x: number, y: number, content: string, name = '', anchor = 'start'): string {
  const attributes = [name && ` class="${name}"`, anchor !== 'start' && ` text-anchor="${anchor}"`].filter(Boolean)
  return `<text x="${round(x)}" y="${y}"${attributes.join('')}>${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
