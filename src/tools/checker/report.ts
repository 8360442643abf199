// The report of a run: plain data, from which all formats are made.

import { type CheckGroup, type Level, type RuleSet, ruleSetOf } from './check.ts'
import type { Exchange, KeyUse } from './exchange.ts'
import type { Facts } from './facts.ts'
import { withoutCredentials } from './http-client.ts'
import type { Counts, Report, ReportedExchange, ReportedResult } from './report-schema.ts'
import { curlOf } from './reports/curl.ts'
import type { Outcome, Result, Status } from './run-steps.ts'

export interface ReportInput {
  readonly subject: Report['subject']
  readonly url: string
  readonly groups: readonly CheckGroup[]
  readonly rules: RuleSet
  readonly only?: readonly string[] | undefined
  readonly facts: Facts
  readonly outcome: Outcome
  readonly mark: string
  readonly offered: readonly string[]
  readonly notOffered: readonly string[]
  readonly version: string
  readonly interfaceVersion: string
  readonly agreed: Readonly<Record<string, string>>
}

export function createReport(input: ReportInput): Report {
  const { subject, url, groups, rules, only, facts, outcome, mark } = input
  const { offered, notOffered, version, interfaceVersion, agreed } = input
  const groupOf = new Map(groups.flatMap(({ title, checks }) => checks.map((check) => [check, title] as const)))
  const results = outcome.results.map((result) => reportResult(result, groupOf.get(result.check) ?? '', subject))
  const counts = {
    must: countOf(results, 'must'),
    should: countOf(results, 'should'),
    decision: countOf(results, 'decision'),
  }
  return {
    format: 'bellwire-check-report/1',
    subject,
    url: withoutCredentials(url).replace(/\/+$/, ''),
    interface_version: interfaceVersion,
    bellwire_version: version,
    rules,
    started_at: new Date(outcome.startedAt).toISOString(),
    ended_at: new Date(outcome.endedAt).toISOString(),
    conclusion: conclusionOf(counts),
    ...(only && { only: [...only] }),
    ...(outcome.stopped !== undefined && { stopped: outcome.stopped }),
    warnings: warningsOf(results, outcome, input),
    counts,
    sent: { messages: outcome.messages, requests: outcome.requests, mark },
    prepared: {
      brand: facts.brand,
      users: Object.fromEntries(Object.entries(facts.users).filter(([, user]) => user !== undefined)),
      ...(facts.fields && { fields: [...facts.fields] }),
      batch_max: facts.batchMax,
      batch_max_agreed: facts.batchMaxAgreed,
      restart: facts.restart !== undefined,
      offered: [...offered],
      not_offered: [...notOffered],
    },
    agreed,
    results,
  }
}

/** A run of recommended checks and decisions alone passes if one of them was judged. */
function conclusionOf({ must, should, decision }: Report['counts']): Report['conclusion'] {
  if (must.failed > 0) return 'failed'
  const judged = (counts: Counts): number => counts.passed + counts.failed
  const hasMust = must.passed + must.not_judged + must.skipped > 0
  const isProved = hasMust ? must.passed > 0 : judged(should) + judged(decision) > 0
  return must.not_judged > 0 || !isProved ? 'incomplete' : 'passed'
}

function reportResult(result: Result, group: string, subject: Report['subject']): ReportedResult {
  const { check, target, status, seen, prepare, noSuccess } = result
  const showsEvidence = status === 'failed' || status === 'not_judged'
  return {
    check: check.id,
    target: target.name,
    group,
    level: check.level,
    rules: ruleSetOf(check),
    section: check.section,
    ...(check.row !== undefined && { row: check.row }),
    title: check.title,
    status,
    ...(seen !== undefined && { seen }),
    ...(noSuccess && { no_success: true }),
    consequence: check.consequence,
    remedy: check.remedy,
    ...(prepare !== undefined && { prepare }),
    exchanges: showsEvidence ? evidenceOf(result, subject) : [],
  }
}

/** More exchanges than this are not shown; the decisive one is. */
const mostExchanges = 8
const mostText = 4_000

function evidenceOf({ exchanges, seen = '' }: Result, subject: Report['subject']): ReportedExchange[] {
  // A finding begins with the label of the exchange that it is about.
  const named = exchanges.filter(({ label }) => seen.startsWith(`${label}:`))
  const decisive = named.length > 0 || exchanges.length > 1 ? named : exchanges
  const shown = exchanges.filter((exchange, place) => place < mostExchanges || decisive.includes(exchange))
  return shown.map((exchange) => reportExchange(exchange, decisive.includes(exchange), subject))
}

function reportExchange(exchange: Exchange, isDecisive: boolean, subject: Report['subject']): ReportedExchange {
  const { label, request, answer, lost, abandoned, startedAt, ms } = exchange
  const { method, url, headers, key, keyHeader, body, note } = request
  const shownKey = shownKeys[key]
  return {
    label,
    ...(isDecisive && { decisive: true }),
    request: {
      method,
      url,
      headers: { ...(shownKey !== undefined && { [keyHeader]: shownKey }), ...headers },
      body: shortened(body),
      ...(note !== undefined && { note }),
    },
    ...(answer && { answer: { ...answer, headers: { ...answer.headers }, body: shortened(answer.body) } }),
    ...(lost ? { lost: lost.detail } : abandoned ? { lost: 'the checker closed the connection' } : {}),
    at: new Date(startedAt).toISOString(),
    ms,
    ...(subject === 'operator' && { curl: curlOf(request, mostText) }),
  }
}

const shownKeys: Readonly<Record<KeyUse, string | undefined>> = {
  right: '(the API key)',
  none: undefined,
  other: '(another key)',
  shortened: '(the API key without its last character)',
  lengthened: '(the API key with one more character)',
  other_case: '(the API key in the other case)',
  empty: '(an empty key)',
}

function shortened(text: string): string {
  return text.length > mostText ? `${text.slice(0, mostText)}… (${text.length} characters)` : text
}

/** The worst status counts: a rule that one endpoint violates is violated. */
const worstFirst = ['failed', 'not_judged', 'skipped', 'passed', 'not_applicable'] as const

/** The number of rules with each status. */
function countOf(results: readonly ReportedResult[], level: Level): Counts {
  const rules = Map.groupBy(
    results.filter((result) => result.level === level),
    ({ check }) => check,
  )
  const statuses = [...rules.values()].map((of) =>
    worstFirst.find((status) => of.some((result) => result.status === status)),
  )
  const count = (status: Status): number => statuses.filter((each) => each === status).length
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    not_applicable: count('not_applicable'),
    not_judged: count('not_judged'),
  }
}

function warningsOf(
  results: readonly ReportedResult[],
  { stopped }: Outcome,
  { subject, notOffered, only }: ReportInput,
): string[] {
  const without = results.filter(({ no_success: noSuccess }) => noSuccess)
  const [example] = without
  const warnings: string[] = []
  if (stopped !== undefined) warnings.push(`The run ended early: ${stopped}. The remaining checks were not judged.`)
  if (example)
    warnings.push(
      `${new Set(without.map(({ check }) => check)).size} checks never reached a success, so they prove nothing. ${example.target}, ${example.seen}. Check that the named users can receive messages, and that the operator's provider works.`,
    )
  if (only) warnings.push(`Only a part of the checks was run: ${only.join(', ')}.`)
  if (notOffered.length > 0)
    warnings.push(
      `${notOfferedWords[subject].title}, and not checked: ${notOffered.join(', ')}. ${notOfferedWords[subject].advice}`,
    )
  return warnings
}

const notOfferedWords = {
  operator: {
    title: 'Not offered',
    advice: 'If the operator must offer them, name all endpoints with --features.',
  },
  platform: {
    title: 'Not used by the platform',
    advice: 'To check the other mode of a channel, change the mode at the platform, and run again.',
  },
} as const
