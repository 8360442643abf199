// Each fenced block of README and docs is checked by a test. The outputs that pages show beside their commands are checked here.

import assert from 'node:assert/strict'
import test from 'node:test'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { operatorChecks } from '../../src/tools/checker/operator/checks.ts'
import { phraseEntries } from '../../src/tools/cli/audit.ts'
import { phraseLife } from '../../src/tools/cli/explain/show.ts'
import { phraseLanes } from '../../src/tools/cli/lanes/show-lanes.ts'
import { phraseLate } from '../../src/tools/cli/permission.ts'
import { phraseShadow } from '../../src/tools/cli/shadow.ts'
import { createTally } from '../../src/tools/shadow/tally.ts'
import { fencedSnippets, pages, read, type Snippet } from './blocks.ts'

/** The test of each language. */
const checkedBy: Readonly<Record<string, string>> = {
  sh: 'commands.test.ts',
  console: 'commands.test.ts',
  csv: 'commands.test.ts, which imports it',
  yaml: 'snippets.test.ts',
  ts: 'typed-snippets.ts, and library.test.ts runs the programs',
  jsx: 'typed-snippets.ts',
  html: 'typed-snippets.ts',
  vue: 'typed-snippets.ts',
  json: 'records.test.ts',
  js: 'site.test.ts',
  css: 'site.test.ts',
  text: 'test/cli/traces.test.ts',
}

/** The blocks without a language, by a part of their first line, each with its test or the reason for none. */
const plainBlocks: Readonly<Record<string, string>> = {
  'your CRM': 'a drawing',
  'apps, services, your code': 'a drawing',
  'CRM ── records': 'a drawing',
  'POST /v1/integration/message/status': 'records.test.ts',
  'push/batch': 'test/cli/fake.test.ts',
  LANE: 'below',
  createOperator: 'below',
  '✗ batch.status': 'below',
  'Message     activity.id': 'below',
  'Checked 2 messages': 'below',
  'Compared ': 'below',
  '*/5 * * * *': 'test/cli/canary.test.ts',
  STORE: 'below',
}

const blocks = pages.flatMap((page) => fencedSnippets(page))

const plain = (beginning: string): string => {
  const found = blocks.filter(({ language, text }) => language === '' && text.startsWith(beginning))
  assert.equal(found.length, 1, beginning)
  return found[0]?.text ?? ''
}

test('each fenced block of README and docs has a test, or is a drawing', (t) => {
  const fences = pages.flatMap((page) => [...read(page).matchAll(/^ *```/gm)])
  assert.equal(fences.length, 2 * blocks.length)
  const isChecked = ({ language, text }: Snippet): boolean =>
    language === ''
      ? Object.keys(plainBlocks).some((part) => text.split('\n', 1)[0]?.includes(part))
      : language in checkedBy
  assert.deepEqual(
    blocks.filter((block) => !isChecked(block)),
    [],
  )
  for (const [language, { length }] of Map.groupBy(blocks, (block) => block.language))
    t.diagnostic(`${length} ${language || 'without a language'}`)
})

test('the error of wrong options in docs/library.md is that of createOperator', () => {
  const options = {
    store: 'sqlite::memory:',
    keys: [{ name: 'platform', brands: ['1'] }],
    suppression: 'none',
  } as never
  assert.throws(
    () => createOperator(options),
    (error: Error) => error.name === 'ConfigError' && `${error.message}\n` === plain('createOperator'),
  )
})

test('the finding in docs/test-operator.md has the words of its check', () => {
  const block = plain('✗')
  const [, id = '', section = ''] = /^✗ (\S+) {2}(\S+)\n/.exec(block) ?? []
  const check = operatorChecks.flatMap(({ checks }) => [...checks]).find((each) => each.id === id)
  const words = [check?.title, `  effect  ${check?.consequence}`, `  remedy  ${check?.remedy}`]
  assert.equal(check?.section, section)
  for (const each of words) assert.ok(block.includes(each ?? id), `${each}`)
})

test('the lanes in docs/lanes.md are shown as bellwire lanes shows them', () => {
  const pause = {
    scope: 'lane' as const,
    by: 'back office',
    reason: 'the operator migrates',
    since: Date.parse('2026-11-23T21:40:02Z'),
    until: Date.parse('2026-11-23T23:40:02Z'),
    held_back: 0,
  }
  const lane = { owned: true, in_flight: 0, held_for_ms: 0, settings: {} as never, oldest_age_ms: 0 }
  const lanes = [
    { ...lane, name: '1/push', state: 'paused' as const, waiting: 18_204, oldest_age_ms: 12 * 60_000, pauses: [pause] },
    { ...lane, name: '1/site', state: 'running' as const, waiting: 0, pauses: [] },
  ]
  assert.equal(`${phraseLanes(lanes)}\n`, plain('LANE'))
})

test('the messages in docs/people.md are shown as bellwire permission check shows them', () => {
  const late = {
    brand: '1',
    user_id: '1001',
    ref: '01a21998-4523-7000-b6f8-99c508a6609b',
    excluded_at: '2026-11-01T10:00:00.000Z',
    sent_at: '2026-11-26T20:42:19.352Z',
    certain: true,
  }
  const longest = Date.parse(late.sent_at) - Date.parse(late.excluded_at)
  const answer = { users: 1, messages: 2, certain: 1, unclear: 0, longest_ms: longest, found: [late] }
  assert.equal(`${phraseLate(answer as never)}\n`, plain('Checked'))
})

test('the message in docs/people.md is shown as bellwire explain shows it', () => {
  const ref = '01a21998-4577-7000-8626-d02ee7460dec'
  const at = (text: string): number => Date.parse(`2026-11-26T20:42:${text}Z`)
  const process = '24593-a615b37eef'
  const message = { id: '2', user_id: '1002', brand: '1', channel: 'push', activity: '7', action: '9' }
  const permission = {
    decided: 'excluded',
    fields: { blocked: false, excluded: true, consent_push_notification: true },
    exempt: false,
    source: 'file users.csv',
    as_of: at('14.317'),
    read_at: at('19.384'),
  }
  const failed = {
    ...{ state: 'failed', rule: 'suppression: the user is excluded', reason: 'suppressed' },
    error: 'not sent: the user is excluded',
  }
  const life = {
    ...message,
    identifiers: [{ ref, replayed_at: null }],
    operator: { outcome: 'failed', attempts: 1, uncertain: 0, permission },
    steps: [
      { at: at('19.383'), side: 'operator', step: 'claimed', process, ref },
      { at: at('19.385'), side: 'operator', step: 'attempt', attempt: 1, process, ...failed },
    ],
  }
  const absences = { platform: 'was not asked: give --other-url and BELLWIRE_OTHER_KEY', operator: '' }
  assert.equal(`${phraseLife(life as never, absences)}\n`, plain('Message'))
})

test('the entries in docs/people.md are shown as bellwire audit list shows them', () => {
  const entry = { store: '0', by: 'compliance', address: '10.0.0.7', brand: '1', digest: '' }
  const given = { ref: '01a21998-4577-7000-8626-d02ee7460dec' }
  const entries = [
    { serial: 6, at: '30.412', act: 'people.erase', user_digest: '19d14731c899f', reason: 'request of 2026-11-26' },
    { serial: 3, at: '27.377', act: 'permission.check' },
    { serial: 2, at: '23.464', act: 'messages.show', user_digest: 'f0', user: '1002', given },
  ].map((each) => ({ ...entry, ...each, at: `2026-11-26T20:42:${each.at}Z` }))
  assert.equal(`${phraseEntries(entries as never)}\n`, plain('STORE'))
})

test('the report in docs/from-own-api.md is shown as bellwire shadow shows it', () => {
  const tally = createTally()
  tally.add('batch.id', {
    at: Date.parse('2026-01-31T10:00:00.123Z'),
    endpoint: 'push/batch',
    id: '1795733017884082',
    operator: '{"id":"1795733017884082","push_id":"p-17"}',
    bellwire: '{"id":1795733017884082,"push_id":"01a20bb0-3f42-7001-afd5-98403f9aeb65"}',
  })
  tally.add('blocked.batch', {
    at: Date.parse('2026-01-31T10:02:00Z'),
    endpoint: 'push/batch',
    id: '1795733017884099',
    operator: '{"id":"1795733017884099","push_id":"p-34"}',
    bellwire: '{"id":1795733017884099,"error":"not sent: the user is blocked","reason":"suppressed"}',
  })
  tally.leaveOut('the operator did not answer', 'connect ECONNREFUSED 127.0.0.1:8080')
  const { differences, left_out } = tally.report()
  const counts = [1_918_112, 228]
  const report = {
    requests: 41_207,
    messages: 1_918_340,
    differences: differences.map((each, i) => ({ ...each, count: counts[i] as number })),
    left_out: left_out.map((each) => ({ ...each, count: 12 })),
  }
  assert.equal(`${phraseShadow(report)}\n`, plain('Compared'))
})
