// The report as JUnit XML, for continuous integration. Only violations of the interface are failures: others do not break a build.

import type { Report, ReportedResult } from '../report-schema.ts'
import { referenceOf, shownSeconds } from './phrases.ts'

export function junitReport(report: Report): string {
  const suites = [...Map.groupBy(report.results, ({ group }) => group)].map(([group, results]) => suite(group, results))
  const { must } = report.counts
  const seconds = Number.parseInt(shownSeconds(report), 10)
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bellwire check ${report.subject}" tests="${report.results.length}" failures="${must.failed}" errors="${must.not_judged}" time="${seconds}">
${suites.join('\n')}
</testsuites>
`
}

function suite(group: string, results: readonly ReportedResult[]): string {
  const count = (status: string): number =>
    results.filter((result) => result.level === 'must' && result.status === status).length
  const skipped = results.filter((result) => skippedReason(result) !== undefined).length
  return `  <testsuite name="${escaped(group)}" tests="${results.length}" failures="${count('failed')}" errors="${count('not_judged')}" skipped="${skipped}">
${results.map(testCase).join('\n')}
  </testsuite>`
}

function testCase(result: ReportedResult): string {
  const { check, target, title, seen = '', consequence, remedy } = result
  const open = `    <testcase classname="${escaped(check)}" name="${escaped(`${title} (${target})`)}"`
  const reason = skippedReason(result)
  if (reason !== undefined) return `${open}><skipped message="${escaped(reason)}"/></testcase>`
  if (result.status === 'passed') return `${open}/>`
  const element = result.status === 'failed' ? 'failure' : 'error'
  const text = `${referenceOf(result)}\nEffect: ${consequence}\nRemedy: ${remedy}`
  return `${open}><${element} message="${escaped(seen)}">${escaped(text)}</${element}></testcase>`
}

/** Undefined if the result counts: it passed, or it is a must that failed or was not judged. */
function skippedReason({ status, level, seen = '', prepare, remedy }: ReportedResult): string | undefined {
  if (status === 'passed') return undefined
  if (status === 'skipped') return `${seen}. To prepare it: ${prepare}`
  if (status === 'not_applicable') return `not applicable: ${seen}`
  if (level === 'must') return undefined
  if (status === 'not_judged') return `not judged: ${seen}`
  return `${level === 'should' ? 'a recommendation' : 'a decision of Bellwire'} is not followed: ${seen}. Remedy: ${remedy}`
}

/** Escapes XML, and replaces characters that XML cannot contain. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;')
}
