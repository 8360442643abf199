// The sign-off sheet of the HTML report: what was proved, what was agreed, and who signs.

import type { Report } from '../report-schema.ts'
import { escaped, list } from './html-text.ts'
import { conclusionWords, ruleSetWords, shownTime, verdictOf } from './phrases.ts'

export function signOffSheet(report: Report): string {
  const { subject, url, started_at: startedAt, prepared, agreed, conclusion, rules } = report
  const rows: [string, string][] = [
    subject === 'operator' ? ['Operator', escaped(url)] : ['Platform', `sent to ${escaped(url)}`],
    ['Brand', escaped(prepared.brand)],
    ['Checked on', shownTime(startedAt)],
    ['Result', `<b>${conclusionWords[conclusion]}</b>. ${escaped(verdictOf(report))}`],
    ['Checked against', ruleSetWords[rules]],
    ['Endpoints', escaped(prepared.offered.join(', '))],
    ...(prepared.not_offered.length > 0
      ? ([[subject === 'operator' ? 'Not offered' : 'Not used', escaped(prepared.not_offered.join(', '))]] as [
          string,
          string,
        ][])
      : []),
    ['Proved', list(provedIn(report).map(escaped))],
    ['Open', openIn(report)],
    ['Batch maximum', `${prepared.batch_max} messages${prepared.batch_max_agreed ? ', agreed' : ', not agreed yet'}`],
    ...(subject === 'operator'
      ? ([['Fields of reconciliation', prepared.fields ? escaped(prepared.fields.join(', ')) : 'not named']] as [
          string,
          string,
        ][])
      : []),
    ...Object.entries(agreed).map(([name, value]): [string, string] => [escaped(name), escaped(value)]),
  ]
  return `<section class="card sheet" id="sign-off" style="margin-top:48px"><h2 style="margin-top:4px">Sign-off sheet</h2>
<table>${rows.map(([name, value]) => `<tr><td>${name}</td><td>${value}</td></tr>`).join('\n')}</table>
<div class="lines"><div>For the operator: name, date, signature</div><div>For the platform: name, date, signature</div></div></section>`
}

/** The groups in which every judged rule of the interface passed. */
function provedIn({ results }: Report): string[] {
  const groups = Map.groupBy(
    results.filter(({ level }) => level !== 'decision'),
    ({ group }) => group,
  )
  return [...groups].flatMap(([group, of]) => {
    const passed = of.filter(({ status }) => status === 'passed').length
    const isProved = passed > 0 && of.every(({ status }) => status === 'passed' || status === 'not_applicable')
    return isProved ? [`${group} (${passed} results)`] : []
  })
}

function openIn({ results }: Report): string {
  const open = results.filter(
    ({ level, status }) => level !== 'decision' && status !== 'passed' && status !== 'not_applicable',
  )
  const checks = [...Map.groupBy(open, ({ check }) => check)].map(
    ([check, of]) => `<code>${escaped(check)}</code> ${escaped(of[0]?.title ?? '')}`,
  )
  return checks.length === 0 ? 'nothing' : list(checks)
}
