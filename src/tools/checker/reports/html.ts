// The report as one self-contained HTML page: a summary, the findings with their evidence, all checks, and a sign-off sheet.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { Level } from '../check.ts'
import type { Counts, Report, ReportedResult } from '../report-schema.ts'
import type { Comparison } from './compare.ts'
import { finding } from './html-finding.ts'
import { signOffSheet } from './html-sign-off.ts'
import { style } from './html-style.ts'
import { escaped } from './html-text.ts'
import {
  conclusionWords,
  type Grouped,
  groupByCheck,
  levelTitles,
  referenceOf,
  ruleSetWords,
  shownSeconds,
  shownTime,
  statusWords,
  verdictOf,
} from './phrases.ts'

export function htmlReport(report: Report, comparison?: Comparison): string {
  const { results, warnings, url } = report
  const failed = (level: Level): readonly Grouped[] =>
    groupByCheck(results.filter((result) => result.status === 'failed' && result.level === level))
  const sections = [
    summary(report),
    toCorrect(failed('must')),
    ...warnings.map((warning) => `<p class="notice warn">${escaped(warning)}</p>`),
    comparison ? compared(comparison) : '',
    allFindings((['must', 'should', 'decision'] as const).map((level) => findings(level, failed(level)))),
    openChecks('not-judged', 'Not judged', results, 'not_judged'),
    openChecks('skipped', 'Skipped', results, 'skipped'),
    allChecks(results),
    signOffSheet(report),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(conclusionWords[report.conclusion])}: ${escaped(url)}</title>
<style>${style}</style>
</head>
<body>
${banner(report)}
<main>
${sections.filter((section) => section !== '').join('\n')}
<footer>${footer(report)}</footer>
</main>
</body>
</html>
`
}

const toneOf = { passed: 'good', failed: 'bad', incomplete: 'warn' } as const
const statusOrder = ['failed', 'not_judged', 'skipped', 'passed'] as const

/** Only a violated must is red. */
function toneOfResult({ status, level }: ReportedResult): string {
  if (status === 'passed') return 'good'
  if (status === 'failed') return level === 'must' ? 'bad' : 'warn'
  return 'idle'
}

function banner(report: Report): string {
  const { subject, conclusion, url, started_at: startedAt, results } = report
  const has = (status: string): boolean => results.some((result) => result.status === status)
  const links = [
    ...(has('failed') ? [['findings', 'Findings']] : []),
    ...(has('not_judged') ? [['not-judged', 'Not judged']] : []),
    ...(has('skipped') ? [['skipped', 'Skipped']] : []),
    ['checks', 'All checks'],
    ['sign-off', 'Sign-off sheet'],
  ] as [string, string][]
  return `<header class="banner ${toneOf[conclusion]}"><div>
<span class="state">${conclusionWords[conclusion]}</span>
<h1>${escaped(verdictOf(report))}</h1>
<p class="address">${subject === 'operator' ? 'Operator' : 'Platform that sent to'} <b>${escaped(url)}</b>, checked ${shownTime(startedAt)}</p>
<nav>${links.map(([id, title]) => `<a href="#${id}">${title}</a>`).join('')}</nav>
</div></header>`
}

const levelNotes = {
  must: 'The interface says it. Only these decide the verdict.',
  should: 'The interface does not say it, but messages are lost, repeated or misdirected otherwise.',
  decision: 'The interface is silent. This is what Bellwire does; you may agree on something else.',
} as const

function summary({ counts }: Report): string {
  const cards = (['must', 'should', 'decision'] as const).map((level) => {
    const { passed, failed } = counts[level]
    return `<div class="card"><h3>${levelTitles[level]}</h3>
<div class="number">${passed} <span>of ${passed + failed} passed</span></div>
${bar(counts[level], level)}
<p class="small soft">${levelNotes[level]}</p></div>`
  })
  return `<h2>Summary</h2><div class="cards">${cards.join('')}</div>`
}

function bar(counts: Counts, level: Level): string {
  const failedTone = level === 'must' ? 'bad' : 'warn'
  const parts = [
    ['passed', 'good', counts.passed],
    ['failed', failedTone, counts.failed],
    ['not judged', 'idle', counts.not_judged],
    ['skipped', 'idle', counts.skipped],
  ] as const
  const shown = parts.filter(([, , count]) => count > 0)
  return `<div class="bar">${shown.map(([, tone, count]) => `<i class="${tone}" style="flex:${count}"></i>`).join('')}</div>
<div class="legend">${shown.map(([word, tone, count]) => `<span class="${tone}"><b>${count}</b> ${word}</span>`).join('')}</div>`
}

/** The required rules that are violated, with their effects: for a reader who does not read on. */
function toCorrect(failed: readonly Grouped[]): string {
  if (failed.length === 0) return ''
  const rows = failed.map(
    ({ first }) =>
      `<tr><td class="rule"><a href="#${escaped(first.check)}">${escaped(first.title)}</a></td><td class="soft">${escaped(first.consequence)}</td></tr>`,
  )
  return `<div class="card brief"><table><tr><th>Violated</th><th>Effect</th></tr>${rows.join('\n')}</table></div>`
}

const chips = (names: readonly string[], tone: string): string =>
  names.map((name) => `<span class="chip ${tone}">${escaped(name)}</span>`).join('')

function compared({ earlier, fixed, broken, others }: Comparison): string {
  const row = (title: string, tone: string, names: readonly string[]): string =>
    names.length === 0
      ? ''
      : `<tr><td class="soft">${title}</td><td><div class="targets">${chips(names, tone)}</div></td></tr>`
  const rows =
    row('passes now', 'good', fixed) + row('fails now', 'bad', broken) + row('judged differently', 'idle', others)
  return `<h2>Compared with the report of ${escaped(earlier)}</h2><div class="card">${rows === '' ? 'No difference.' : `<table>${rows}</table>`}</div>`
}

const allFindings = (ofLevels: readonly string[]): string => {
  const found = ofLevels.filter((each) => each !== '')
  return found.length === 0 ? '' : `<section id="findings">${found.join('\n')}</section>`
}

function findings(level: Level, groups: readonly Grouped[]): string {
  if (groups.length === 0) return ''
  const tone = level === 'must' ? 'bad' : 'warn'
  return `<h2>${levelTitles[level]}: ${groups.length} ${groups.length === 1 ? 'finding' : 'findings'}</h2>
${groups.map((group) => finding(group, tone)).join('\n')}`
}

function openChecks(
  id: string,
  title: string,
  results: readonly ReportedResult[],
  status: 'not_judged' | 'skipped',
): string {
  const found = results.filter((result) => result.status === status)
  if (found.length === 0) return ''
  const byReason = Map.groupBy(found, ({ seen = '', prepare = '' }) => `${seen}\n${prepare}`)
  const rows = [...byReason.values()].map((of) => {
    const [{ seen = '', prepare }] = of as [ReportedResult, ...ReportedResult[]]
    const checks = [...new Set(of.map(({ check, title }) => `<code>${escaped(check)}</code> ${escaped(title)}`))]
    const advice = prepare === undefined ? '' : `<br><b>To prepare it:</b> ${escaped(prepare)}.`
    return `<tr><td class="rule">${checks.join('<br>')}</td><td>${escaped(seen)}${advice}</td></tr>`
  })
  return `<h2 id="${id}">${title}</h2><div class="card"><table>
<tr><th>Check</th><th>Reason</th></tr>${rows.join('\n')}</table></div>`
}

function allChecks(results: readonly ReportedResult[]): string {
  const groups = [...Map.groupBy(results, ({ group }) => group)].map(([group, of]) => groupTable(group, of))
  return `<h2 id="checks">All checks</h2>\n${groups.join('\n')}`
}

function groupTable(group: string, results: readonly ReportedResult[]): string {
  const counts = statusOrder.map((status) => {
    const [first, ...others] = results
      .filter((result) => result.status === status)
      .toSorted((a, b) => Number(b.level === 'must') - Number(a.level === 'must'))
    if (!first) return ''
    return `<span class="chip ${toneOfResult(first)}">${others.length + 1} ${statusWords[status]}</span>`
  })
  const rows = [...Map.groupBy(results, ({ check }) => check).values()].map(checkRow)
  return `<details class="card group"><summary><b>${escaped(group)}</b>${counts.join(' ')}</summary>
<table><tr><th>Rule</th><th>Level</th><th>Reference</th><th>Result</th></tr>${rows.join('\n')}</table></details>`
}

function checkRow(results: readonly ReportedResult[]): string {
  const [first] = results as [ReportedResult, ...ReportedResult[]]
  const applicable = results.filter(({ status }) => status !== 'not_applicable')
  const chips =
    applicable.length === 0
      ? `<span class="chip idle" title="${escaped(first.seen ?? '')}">not applicable</span>`
      : applicable
          .map((result) => {
            const { target, status, seen = '' } = result
            const word = status === 'passed' ? '' : `: ${statusWords[status]}`
            return `<span class="chip ${toneOfResult(result)}" title="${escaped(seen)}">${escaped(target)}${word}</span>`
          })
          .join('')
  return `<tr><td class="rule">${escaped(first.title)}<br><code class="soft">${escaped(first.check)}</code></td>
<td class="level">${first.level}</td><td class="small level">${escaped(referenceOf(first))}</td><td><div class="targets">${chips}</div></td></tr>`
}

function footer(report: Report): string {
  const { sent, rules, bellwire_version: version, interface_version: iface } = report
  return `${phraseCount(sent.requests, 'request')} and ${phraseCount(sent.messages, 'message')} in ${shownSeconds(report)}. Every message has
<code>bellwire-check-${escaped(sent.mark)}</code> in its trigger_hash. Checked: ${ruleSetWords[rules]}; version ${escaped(iface)} of the interface.
Bellwire ${escaped(version)}.`
}
