import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fingerprintOf, type IntegrationProfile } from '../../src/contract/integration-profile.ts'
import type { Report } from '../../src/tools/checker/report-schema.ts'
import { changeItems } from '../checker/mutants/mutant.ts'
import { key, type Mutation, startPlainOperator, users } from '../checker/plain-operator.ts'
import { freePort } from '../support/free-port.ts'
import { temporary } from '../support/sides.ts'
import { type Run, run } from './bellwire.ts'

async function startedOperator(t: TestContext, mutation?: Mutation) {
  let messages = 0
  const operator = await startPlainOperator({
    ...mutation,
    onSocket: (incoming) => void (incoming.url?.startsWith('/channels') && messages++),
  })
  t.after(operator.stop)
  const check = (args: readonly string[], env: NodeJS.ProcessEnv = { BELLWIRE_KEY: key }): Promise<Run> =>
    run(['check', 'operator', '--url', operator.url, '--user', users.normal, ...args], env)
  return { check, url: operator.url, requests: () => messages }
}

const asObjects = changeItems((items) => ({ ...items, successful: { ...items.successful } }))

test('check: a passing run exits with 0, and writes a report in each format', async (t) => {
  const { check } = await startedOperator(t)
  const folder = await temporary(t)
  const [html, json, junit, text] = ['html', 'json', 'xml', 'txt'].map((extension) =>
    join(folder, `report.${extension}`),
  )
  const reports = [html, json, junit, text].flatMap((file) => ['--report', file as string])
  const { code, out, err } = await check(['--yes', '--only', 'single,batch', ...reports])
  assert.equal(code, 0, out + err)
  assert.match(err, /Sends at most \d+ messages, only to the user user-1, brand 1\./)
  assert.match(out, /All 12 required rules that were checked are kept\./)
  assert.match(await readFile(html as string, 'utf8'), /^<!doctype html>[\s\S]*Passed/)
  for (const file of [html, json, junit, text])
    assert.equal((await stat(file as string)).mode & 0o777, 0o600, 'reports have texts and identifiers of users')
  assert.match(await readFile(junit as string, 'utf8'), /^<\?xml/)
  assert.match(await readFile(text as string, 'utf8'), /All 12 required rules that were checked are kept/)
  const report = JSON.parse(await readFile(json as string, 'utf8')) as Report
  assert.equal(report.conclusion, 'passed')

  const broken = await startedOperator(t, asObjects)
  const compared = await broken.check(['--yes', '--only', 'single,batch', '--compare', json as string])
  assert.equal(compared.code, 1)
  assert.match(compared.out, /✗ fails now: batch\.categories \(push batch\), batch\.categories \(on-site batch\)/)
})

test('check: a violated must exits with 1, shows it during the run, and prints JSON', async (t) => {
  const { check } = await startedOperator(t, asObjects)
  const { code, out, err } = await check(['--yes', '--only', 'batch', '--json'])
  assert.equal(code, 1)
  assert.match(err, /✗ batch\.categories \(push batch\): successful is \{/)
  const report = JSON.parse(out) as Report
  assert.equal(report.conclusion, 'failed')
})

test('check: a run that cannot begin exits with 2, and says what to do', async (t) => {
  const { check, requests } = await startedOperator(t)
  const cases: [string[], RegExp, NodeJS.ProcessEnv?][] = [
    [['--yes'], /refuses the API key[\s\S]*BELLWIRE_KEY or --key-file/, { BELLWIRE_KEY: 'wrong' }],
    [['--yes'], /the key has a space or a character outside ASCII/, { BELLWIRE_KEY: 'key …' }],
    [['--yes'], /no API key: give BELLWIRE_KEY or --key-file/, {}],
    [
      ['--yes', '--url', `http://127.0.0.1:${await freePort()}`, '--timeout', '500ms'],
      /could not run[\s\S]*check --url/,
    ],
    [['--yes', '--url', 'operator.example'], /--url is not an http or https address: operator\.example/],
    [[], /add --yes to send the messages, or --dry-run/],
    [['--yes', '--only', 'bach'], /--only bach names no check/],
    [['--yes', '--report', 'report.pdf'], /--report report\.pdf: the extension chooses the format/],
    [['--yes', '--report', 'none/report.html'], /--report none\/report\.html cannot be written: ENOENT/],
    [['--yes', '--compare', import.meta.filename], /is not a JSON report of bellwire check/],
    [['--yes', '--fields', 'blocked,banned'], /banned is none of blocked, excluded/],
    [['--yes', '--blocked-user', users.normal], /the user user-1 is named twice/],
    [['--yes', '--max-messages', '10'], /would send up to \d+ messages, and --max-messages is 10/],
  ]
  for (const [args, expected, env] of cases) {
    const { code, err } = await check(args, env)
    assert.match(err, expected)
    assert.equal(code, 2, err)
  }
  assert.ok(requests() <= 4 * 4, 'only the requests that find out what the operator offers')
})

test('check: --dry-run shows the plan, and sends no message', async (t) => {
  const { check, requests } = await startedOperator(t)
  const { code, err } = await check(['--dry-run'])
  assert.equal(code, 0)
  assert.match(err, /checks, counted for each endpoint, channel and field\.\nSends at most \d+ messages/)
  assert.match(err, /no blocked user is named: .*--blocked-user ID/)
  assert.equal(requests(), 4)
})

test('check: a file prepares the run, and options override it', async (t) => {
  const { check, url } = await startedOperator(t)
  const folder = await temporary(t)
  const file = join(folder, 'check.yaml')
  await writeFile(join(folder, 'key'), `${key}\n`)
  await writeFile(
    file,
    `url: http://127.0.0.1:1
key_file: key
users: {normal: nobody, blocked: ${users.blocked}, without_device: ${users.withoutDevice}}
known: {${users.blocked}: {blocked: true}}
message: {title: Hello}
fields: [blocked, excluded, consent_push_notification]
batch_max: 30
restart_command: exit 3
agreed: {Rate limit: 100 a second}
`,
  )
  const { code, out } = await check(['--file', file, '--yes', '--json', '--only', 'reconciliation,restart,blocked'], {})
  const report = JSON.parse(out) as Report
  assert.deepEqual(report.agreed, { 'Rate limit': '100 a second' })
  assert.deepEqual(report.prepared.users, {
    normal: users.normal,
    blocked: users.blocked,
    withoutDevice: users.withoutDevice,
  })
  assert.equal(report.url, url)
  const statusOf = (check: string) => report.results.find((result) => result.check === check)
  assert.equal(statusOf('reconciliation.true')?.status, 'passed')
  assert.match(statusOf('restart.identifier')?.seen ?? '', /the restart command exited with 3/)
  assert.equal(code, 0)
  const strict = await check(['--file', file, '--yes', '--only', 'reconciliation', '--strict'], {})
  assert.equal(strict.code, 2, 'reconciliation.error was skipped')
})

test('check: each problem of the file is named with its line and remedy', async (t) => {
  const { check } = await startedOperator(t)
  const file = join(await temporary(t), 'check.yaml')
  await writeFile(file, 'user: {normal: 1}\nfields: [blocked, banned]\nknown: {a: {blocked: yes}}\nbatch_max: many\n')
  const { code, err } = await check(['--file', file, '--yes'])
  assert.equal(code, 2)
  assert.match(err, /check\.yaml:1 {2}user: unknown setting\n {4}did you mean users\?/)
  assert.match(err, /check\.yaml:2 {2}fields\[1\]: expected blocked, .*found "banned"/)
  assert.match(err, /known: expected a map of users to fields with true or false/)
  assert.match(err, /check\.yaml:4 {2}batch_max: expected a whole number from 3 to 2000, found "many"/)
})

test('check: an integration profile fills in what the operator stated, and refuses a key of another environment', async (t) => {
  const { check, url } = await startedOperator(t)
  const folder = await temporary(t)
  const file = join(folder, 'profile.json')
  const profile: IntegrationProfile = {
    version: 1,
    created_at: '2026-11-20T10:00:00Z',
    base_url: url,
    channels: ['push'],
    modes: ['single', 'batch'],
    batch_max: 30,
    body_bytes: 16_777_216,
    answer_within_ms: 20_000,
    concurrency: 4,
    keys: [{ name: 'platform', fingerprint: fingerprintOf(key), brands: ['1'], rate: { per_second: 500 } }],
    brands: [{ brand: '1', reconciliation: ['blocked', 'excluded', 'consent_push_notification'] }],
  }
  await writeFile(file, JSON.stringify(profile))
  const args = ['--profile', file, '--yes', '--json', '--only', 'reconciliation,size,endpoint']
  const { code, out, err } = await check(args)
  assert.equal(code, 0, err)
  const report = JSON.parse(out) as Report
  assert.equal(report.agreed.Rate, '500 messages a second')
  assert.deepEqual(report.prepared.offered, ['push.single', 'push.batch', 'reconciliation'])
  assert.deepEqual([report.prepared.batch_max, report.prepared.batch_max_agreed], [30, true])
  assert.deepEqual(report.prepared.fields, ['blocked', 'excluded', 'consent_push_notification'])
  const wrong = await check(args, { BELLWIRE_KEY: 'the-key-of-production' })
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /the fingerprint of the API key, sha256:[0-9a-f]{16}, is not in it/)
  const brand = await check([...args, '--brand', '2'])
  assert.match(brand.err, /its key platform is not for brand 2/)
})
