// The report as text, for a terminal.

import { styleText } from 'node:util'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { Level } from '../check.ts'
import type { Report, ReportedResult } from '../report-schema.ts'
import type { Comparison } from './compare.ts'
import { type Grouped, groupByCheck, levelTitles, referenceOf, shownSeconds, verdictOf } from './phrases.ts'

const width = 120
/** Longer commands are only in the other formats. */
const longestCurl = 600

export function textReport(report: Report, comparison?: Comparison): string {
  const { url, results, warnings, sent, conclusion } = report
  const colour = conclusion === 'passed' ? 'green' : conclusion === 'failed' ? 'red' : 'yellow'
  return [
    '',
    ...warnings.flatMap((warning) => [wrapped(styleText('yellow', '! '), warning), '']),
    ...(['must', 'should', 'decision'] as const).flatMap((level) => failures(results, level)),
    ...listed('Not judged', results, 'not_judged', ({ seen = '' }) => seen),
    ...listed('Skipped', results, 'skipped', ({ seen = '', prepare }) => `${seen}. To prepare it: ${prepare}`),
    ...(comparison ? comparedLines(comparison) : []),
    ...countLines(report),
    '',
    styleText([colour, 'bold'], verdictOf(report)),
    `${url}: ${phraseCount(sent.requests, 'request')} and ${phraseCount(sent.messages, 'message')} in ${shownSeconds(report)}.`,
  ].join('\n')
}

function failures(results: readonly ReportedResult[], level: Level): string[] {
  const failed = groupByCheck(results.filter((result) => result.level === level && result.status === 'failed'))
  if (failed.length === 0) return []
  return [styleText('bold', levelTitles[level]), '', ...failed.flatMap(failureLines)]
}

function failureLines({ first, results }: Grouped): string[] {
  const mark = first.level === 'must' ? styleText('red', '✗') : styleText('yellow', '!')
  const command = results[0]?.exchanges.find((exchange) => exchange.decisive)?.curl
  return [
    `${mark} ${styleText('bold', first.check)}  ${styleText('dim', referenceOf(first))}`,
    wrapped('  ', first.title),
    ...results.map(({ target, seen = '' }) => wrapped('  seen    ', `${target}: ${seen}`)),
    wrapped('  effect  ', first.consequence),
    wrapped('  remedy  ', first.remedy),
    ...(command === undefined
      ? []
      : [`  repeat  ${command.length > longestCurl ? 'the HTML and JSON reports have the command' : command}`]),
    '',
  ]
}

function listed(
  title: string,
  results: readonly ReportedResult[],
  status: ReportedResult['status'],
  phrase: (result: ReportedResult) => string,
): string[] {
  const found = results.filter((result) => result.status === status)
  if (found.length === 0) return []
  const byReason = Map.groupBy(found, phrase)
  const lines = [...byReason].flatMap(([reason, of]) => {
    const checks = [...new Set(of.map(({ check }) => check))].join(', ')
    return [wrapped('- ', checks), wrapped('  ', reason)]
  })
  return [styleText('bold', title), '', ...lines, '']
}

function comparedLines({ earlier, fixed, broken, others }: Comparison): string[] {
  const line = (mark: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [wrapped(`${mark} `, names.join(', '))]
  return [
    styleText('bold', `Compared with the report of ${earlier}`),
    '',
    ...line('✓ passes now:', fixed),
    ...line('✗ fails now:', broken),
    ...line('- judged differently:', others),
    ...(fixed.length + broken.length + others.length === 0 ? ['No difference.'] : []),
    '',
  ]
}

function countLines({ counts }: Report): string[] {
  const row = (title: string, values: readonly (number | string)[]): string =>
    `${title.padEnd(12)}${values.map((value) => String(value).padStart(12)).join('')}`
  return [
    styleText('dim', row('', ['passed', 'failed', 'not judged', 'skipped'])),
    ...(['must', 'should', 'decision'] as const).map((level) => {
      const { passed, failed, not_judged: notJudged, skipped } = counts[level]
      return row({ must: 'required', should: 'recommended', decision: 'decisions' }[level], [
        passed,
        failed,
        notJudged,
        skipped,
      ])
    }),
  ]
}

/** Breaks a text into lines. Each line after the first is indented as far as the prefix. */
function wrapped(prefix: string, text: string): string {
  const indent = ' '.repeat(stripped(prefix).length)
  const lines = ['']
  for (const word of text.replaceAll(/\p{Cc}/gu, ' ').split(' ')) {
    const line = lines.at(-1) as string
    if (line !== '' && indent.length + line.length + word.length >= width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line, place) => (place === 0 ? prefix : indent) + line).join('\n')
}

const stripped = (text: string): string => text.replaceAll(/\x1b\[\d+m/g, '')
