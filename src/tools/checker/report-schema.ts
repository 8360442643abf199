// The JSON report as a schema: docs/check-report.schema.json is printed from it.

import { type Static, Type } from 'typebox'
import { ruleSets } from './check.ts'

const time = (description: string) => Type.String({ format: 'date-time', description })
const optional = Type.Optional

const ReportedExchange = Type.Object(
  {
    label: Type.String({ description: 'The purpose of the request' }),
    decisive: optional(Type.Literal(true, { description: 'The finding is about this exchange' })),
    request: Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      body: Type.String({ description: 'At most 4,000 characters' }),
      note: optional(Type.String({ description: 'A peculiarity of the sending' })),
    }),
    answer: optional(
      Type.Object({
        status: Type.Integer(),
        headers: Type.Record(Type.String(), Type.String()),
        body: Type.String({ description: 'At most 4,000 characters' }),
        complete: Type.Boolean({ description: 'False: the connection ended inside the body' }),
      }),
    ),
    lost: optional(Type.String({ description: 'Why there is no complete answer' })),
    at: time('When the request was sent'),
    ms: Type.Integer(),
    curl: optional(
      Type.String({ description: 'A command that repeats a request to an operator; the key is in $API_KEY' }),
    ),
  },
  { $id: 'Exchange' },
)
export type ReportedExchange = Static<typeof ReportedExchange>

const ReportedResult = Type.Object(
  {
    check: Type.String({ description: 'The id of the check' }),
    target: Type.String({ description: 'The endpoint, channel or field' }),
    group: Type.String(),
    level: Type.Enum(['must', 'should', 'decision']),
    rules: Type.Enum([...ruleSets]),
    section: Type.String({ description: 'The sections of the interface' }),
    row: optional(Type.Integer({ description: 'The row of docs/open-points.md' })),
    title: Type.String({ description: 'The rule' }),
    status: Type.Union([
      Type.Literal('passed'),
      Type.Literal('failed'),
      Type.Literal('skipped', { description: 'Something was not prepared' }),
      Type.Literal('not_applicable', { description: 'The rule does not concern this operator or platform' }),
      Type.Literal('not_judged', { description: 'The rule was not put to the test' }),
    ]),
    seen: optional(Type.String({ description: 'What was seen, or why there is no judgement' })),
    no_success: optional(Type.Literal(true, { description: 'No message was delivered' })),
    consequence: Type.String(),
    remedy: Type.String(),
    prepare: optional(Type.String({ description: 'How to prepare a skipped check' })),
    exchanges: Type.Array(ReportedExchange, { description: 'Of failed and unjudged checks' }),
  },
  { $id: 'Result' },
)
export type ReportedResult = Static<typeof ReportedResult>

/** Rules by status. A rule has the worst status of its targets. */
const Counts = Type.Object({
  passed: Type.Integer(),
  failed: Type.Integer(),
  skipped: Type.Integer(),
  not_applicable: Type.Integer(),
  not_judged: Type.Integer(),
})
export type Counts = Static<typeof Counts>

export const ReportSchema = Type.Object(
  {
    format: Type.Literal('bellwire-check-report/1'),
    subject: Type.Enum(['operator', 'platform']),
    url: Type.String({ description: 'The base URL of the operator; of the checker, if a platform sent to it' }),
    interface_version: Type.String(),
    bellwire_version: Type.String(),
    rules: Type.Enum([...ruleSets]),
    started_at: time('The first message'),
    ended_at: time('The last answer'),
    conclusion: Type.Union([
      Type.Literal('passed', { description: 'Every must was judged, and passed' }),
      Type.Literal('failed', { description: 'At least one must failed' }),
      Type.Literal('incomplete', { description: 'No must failed, but at least one was not judged' }),
    ]),
    only: optional(Type.Array(Type.String(), { description: 'The chosen checks and groups; absent: all' })),
    stopped: optional(Type.String({ description: 'Why the run ended early' })),
    warnings: Type.Array(Type.String(), { description: 'What a reader must know before the results' }),
    counts: Type.Object({ must: Counts, should: Counts, decision: Counts }),
    sent: Type.Object({
      messages: Type.Integer({ description: 'Sent to an operator, or enqueued at a platform' }),
      requests: Type.Integer({ description: 'Sent to an operator, or received from a platform' }),
      mark: Type.String({ description: 'Part of the trigger_hash of every message' }),
    }),
    prepared: Type.Object({
      brand: Type.String(),
      users: Type.Record(Type.String(), Type.String()),
      fields: optional(Type.Array(Type.String())),
      batch_max: Type.Integer(),
      batch_max_agreed: Type.Boolean(),
      restart: Type.Boolean(),
      offered: Type.Array(Type.String()),
      not_offered: Type.Array(Type.String()),
    }),
    agreed: Type.Record(Type.String(), Type.String(), { description: 'Agreements outside the interface (§1.6)' }),
    results: Type.Array(ReportedResult),
  },
  { $id: 'check-report.schema.json', title: 'Report of bellwire check' },
)
export type Report = Static<typeof ReportSchema>
