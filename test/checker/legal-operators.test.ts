// Operators that choose otherwise than the plain operator where the interface leaves the choice: none of their choices is a finding.

import assert from 'node:assert/strict'
import test from 'node:test'
import { checkPlain, facts, failedChecks } from './check-plain.ts'
import { after, before, isBatch, isList } from './mutants/mutant.ts'
import { error, identifierNames, json, type Mutation, type Wrap, write } from './plain-operator.ts'

const countOf = (text: string): number => text.split('"activity"').length - 1

/** Refuses larger batches as a whole. */
const withMaximum = (most: number): Mutation =>
  before(isBatch, ({ text }) => {
    const records: unknown = text.startsWith('[') && text.endsWith(']') ? JSON.parse(text) : []
    return Array.isArray(records) && records.length > most ? error(413, 'too many messages') : undefined
  })

const withTimestamp = (timestamp: string): Mutation =>
  after(
    (request, { status, body }) => isList(request) && status === 200 && body.join('').includes('timestamp'),
    (answer) => json(200, { ...JSON.parse(answer.body.join('')), timestamp }),
  )

/** Reports the messages of a batch with a wrong key as failed, with status 200. */
const failsWithoutKey: Wrap = (next) => async (request) => {
  const answer = await next(request)
  if (!isBatch(request) || answer.status !== 401 || countOf(request.text) === 0) return answer
  const failed = [...request.text.matchAll(/"id":(\d+)/g)].map(([, id]) => ({ id: Number(id), error: 'unknown key' }))
  return json(200, { failed })
}

/** Makes the identifier of activity.id. */
const withIdentifierOfId: Wrap = (next) => async (request) => {
  const answer = await next(request)
  const [, id] = /"id":(\d+)/.exec(request.text) ?? []
  if (!request.path.endsWith('/single') || answer.status !== 200) return answer
  const channel = request.path.includes('/push/') ? 'push' : 'site'
  return { ...answer, body: [write({ [identifierNames[channel]]: `operator-${id}` })] }
}

const isRecord = (item: unknown): boolean => {
  const { activity } = (item ?? {}) as { readonly activity?: { readonly user_id?: unknown } | null }
  return typeof activity?.user_id === 'string'
}

const readsRecordsOnly = before(isBatch, ({ text }) => {
  const records: unknown = text.endsWith(']') ? JSON.parse(text) : []
  return Array.isArray(records) && records.every(isRecord) ? undefined : error(400, 'not an array of records')
})

test('an operator that refuses a batch with a malformed item as a whole violates no rule of the interface', async () => {
  const outcome = await checkPlain(readsRecordsOnly, { only: ['batch', 'bad-item'] })
  const failed = outcome.results.filter(({ status }) => status === 'failed').map(({ check }) => check)
  assert.deepEqual(new Set(failed.map(({ id }) => id)), new Set(['bad-item.status']))
  assert.deepEqual(
    failed.filter(({ level }) => level === 'must'),
    [],
  )
})

let deliveries = 0

for (const { choice, mutation, options = {} } of [
  ...[3, 4, 10].map((batchMax) => ({
    choice: `has the agreed batch maximum ${batchMax}`,
    mutation: withMaximum(batchMax),
    options: { facts: { ...facts, batchMax }, rules: 'interface' } as const,
  })),
  {
    choice: 'has a batch maximum that is not named to the checker',
    mutation: withMaximum(5),
    options: { facts: { ...facts, batchMax: 100, batchMaxAgreed: false } },
  },
  ...['2020-01-01T10:00:00,5Z', '2020-01-01T10:00:00+00', '20200101T100000Z', '2016-12-31T23:59:60Z'].map((time) => ({
    choice: `writes the time of the data as ${time}`,
    mutation: withTimestamp(time),
    options: { only: ['reconciliation'] },
  })),
  {
    choice: 'reports messages with a wrong key as failed',
    mutation: { wrap: failsWithoutKey },
    options: { only: ['auth'], rules: 'interface' } as const,
  },
  {
    choice: 'makes its identifiers of activity.id',
    mutation: { wrap: withIdentifierOfId },
    options: { only: ['single', 'repeat.single', 'repeat.channels', 'repeat.channels-equal'] },
  },
  {
    choice: 'delivers each repetition, and can read a cut request again',
    mutation: { rules: () => ({ key: () => String(deliveries++) }) },
    options: { only: ['time.cut-request'] },
  },
])
  test(`an operator that ${choice} violates no rule by it`, async () => {
    const outcome = await checkPlain(mutation, options)
    assert.deepEqual(failedChecks(outcome), [])
    assert.ok(outcome.results.some(({ status }) => status === 'passed'))
  })
