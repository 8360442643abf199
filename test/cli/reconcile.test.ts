import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { Report } from '../../src/tools/cli/reconcile/report.ts'
import { importLines, startReconciling } from '../reconcile/platform.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { adminKey, get, temporary } from '../support/sides.ts'
import { run } from './bellwire.ts'

const reconcile = (url: string, ...more: string[]) =>
  run(['reconcile', '--brand', '1', '--url', url, ...more], { BELLWIRE_KEY: adminKey.key })

test('bellwire reconcile prints text or JSON, and its exit code depends on the findings', async (t) => {
  const lists: Record<string, string> = {
    blocked: listOf(['1001', '1002', 'only "operator"']),
    excluded: listOf(['1003']),
    consent_push_notification: '{"users":["a"],"error":"the replica went away"}',
  }
  const operator = await startListOperator(t, (response, { field }) => void response.end(lists[field]))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  await importLines(url, '1', [
    { user_id: '1001', blocked: true },
    { user_id: '1003', excluded: true, blocked: true },
  ])

  const found = await reconcile(url, '--field', 'blocked')
  assert.equal(found.code, 1, found.err)
  assert.match(found.out, /^brand 1, blocked: 3 discrepancies\n/)
  assert.match(
    found.out,
    /critical +2 {2}blocked at the operator, not at the CRM: the CRM still messages these users\n +"1002", "only \\"operator\\""\n/,
  )
  assert.match(found.out, /low +1 {2}blocked at the CRM, not at the operator.*\n +"1003"\n/)
  assert.match(found.out, /at most \d+ MB in the platform/)
  assert.match(
    found.out,
    /correct +bellwire reconcile correct [\w-]+: sets blocked = true for 2 users in the CRM\n +acknowledge +bellwire reconcile acknowledge [\w-]+\n$/,
  )

  const json = JSON.parse((await reconcile(url, '--field', 'blocked', '--json', '--sample', '1')).out) as Report
  assert.deepEqual([json.run.discrepancies?.critical, json.sample.length], [2, 1])

  const none = await reconcile(url, '--field', 'excluded')
  assert.equal(none.code, 0)
  assert.match(none.out, /^brand 1, excluded: no discrepancies\n/)
  assert.doesNotMatch(none.out, /Next steps/)

  const refused = await reconcile(url, '--field', 'consent_push_notification')
  assert.equal(refused.code, 2)
  assert.match(
    refused.out,
    /not compared, the answer was refused \(error\)\n {2}the replica went away\n {2}the operator reported an error/,
  )
})

test('the commands that a report of bellwire reconcile names export, correct and acknowledge the run', async (t) => {
  const operator = await startListOperator(t, (response) => void response.end(listOf(['1001', '1002'])))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  await importLines(url, '1', [{ user_id: '1001' }, { user_id: '1003', blocked: true }])
  const { out } = await reconcile(url, '--field', 'blocked')
  const follow = (command: string, ...more: string[]) => {
    const [, args = ''] = new RegExp(`bellwire (reconcile ${command} [\\w-]+)`).exec(out) ?? []
    return run([...args.split(' '), '--url', url, ...more], { BELLWIRE_KEY: adminKey.key })
  }

  const file = join(await temporary(t), 'discrepancies.csv')
  assert.equal((await follow('export', '--out', file)).code, 0)
  assert.match(await readFile(file, 'utf8'), /^user_id,.*\n1001,.*\n1002,.*\n1003,.*\n$/)
  const ndjson = await follow('export', '--format', 'ndjson')
  assert.equal(ndjson.out.trim().split('\n').length, 3)

  const preview = await follow('correct', '--preview')
  assert.equal(preview.out, 'Sets blocked = true for 2 users in the CRM: "1001", "1002"\n', preview.err)
  const unconfirmed = await follow('correct')
  assert.equal(unconfirmed.code, 2)
  assert.match(unconfirmed.err, /Change 2 users\? Give --yes to confirm/)
  const corrected = await follow('correct', '--yes')
  assert.equal(corrected.out.split('\n')[1], 'Changed 2 users, skipped 0.', corrected.err)
  assert.equal((await get(`${url}/admin/attributes/1/1002`)).body.attributes.blocked.value, true)
  // What gives rights back is confirmed with the number of the preview.
  assert.match(
    (await follow('correct', '--loosen', '--yes', '--reason', 'the operator let them play')).out,
    /blocked = false for 1 user in the CRM: "1003"\nChanged 1 user, skipped 0\./,
  )
  assert.equal((await get(`${url}/admin/attributes/1/1003`)).body.attributes.blocked.value, false)

  assert.match((await follow('acknowledge')).out, /^Run [\w-]+ is acknowledged by admin\.\n$/)
  const unknown = await run(['reconcile', 'acknowledge', 'none', '--url', url], { BELLWIRE_KEY: adminKey.key })
  assert.deepEqual([unknown.code, /there is no run "?none/.test(unknown.err)], [2, true], unknown.err)
})

test('bellwire reconcile exits with 2 for an unknown brand, and with 3 for an unreachable platform', async (t) => {
  const operator = await startListOperator(t, (response) => void response.end(listOf([])))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  const unknown = await run(['reconcile', '--brand', '9', '--field', 'blocked', '--url', url], {
    BELLWIRE_KEY: adminKey.key,
  })
  assert.equal(unknown.code, 2)
  assert.match(unknown.err, /platform\.reconciliation/)
  const field = await reconcile(url, '--field', 'blokced')
  assert.equal(field.code, 2)
  const unreachable = await reconcile('http://127.0.0.1:1', '--field', 'blocked', '--patience', '100ms')
  assert.equal(unreachable.code, 3)
  assert.match(unreachable.err, /has not answered/)
  const key = await run(['reconcile', '--brand', '1', '--field', 'blocked', '--url', url, '--key', 'wrong'])
  assert.match(key.err, /with the scopes decide, counts and read/)
})

test('bellwire attributes import reads CSV and NDJSON, and reports invalid lines with their line number', async (t) => {
  const operator = await startListOperator(t, (response) => void response.end(listOf([])))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  const folder = await temporary(t)
  const rows = Array.from({ length: 2_500 }, (_, i) => `u${i},${i % 2 === 0},2026-01-01T00:00:00Z`)
  rows[1_700] = 'bad,maybe,'
  const csv = join(folder, 'users.csv')
  await writeFile(csv, `user_id,blocked,updated_at\r\n${rows.join('\r\n')}\r\n`)
  const runImport = (...args: string[]) =>
    run(['attributes', 'import', '--brand', '1', '--url', url, ...args], { BELLWIRE_KEY: adminKey.key })
  const first = await runImport('--file', csv, '--json')
  assert.equal(first.code, 1, first.err)
  const summary = JSON.parse(first.out)
  assert.deepEqual(
    [summary.users, summary.changed, summary.refused.map((each: { line: number }) => each.line)],
    [2_499, 2_499, [1_702]],
  )
  const second = await runImport('--file', csv)
  assert.match(second.out, /2,499 users, 0 changed\n {2}refused +1\n {6}line 1702: blocked is "maybe"/)
  assert.equal((await get(`${url}/admin/attributes/1/u2498`)).body.attributes.blocked.value, true)

  const ndjson = join(folder, 'users.ndjson')
  await writeFile(ndjson, '{"user_id":"v","blocked":true}\n')
  assert.equal((await runImport('--file', ndjson, '--as-of', '2026-01-01T00:00:00Z')).code, 0)
  assert.equal(
    (await get(`${url}/admin/attributes/1/v`)).body.attributes.blocked.changed_at,
    '2026-01-01T00:00:00.000Z',
  )
  assert.equal((await runImport('--file', join(folder, 'nothing.csv'))).code, 2)
  assert.match((await runImport('--file', '-')).err, /--format/)
})

test('an import that cannot be read unambiguously, or that is empty, exits with 2', async (t) => {
  const operator = await startListOperator(t, (response) => void response.end(listOf([])))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  const folder = await temporary(t)
  const runImport = async (name: string, text: string) => {
    const file = join(folder, name)
    await writeFile(file, text)
    return run(['attributes', 'import', '--brand', '1', '--url', url, '--file', file], {
      BELLWIRE_KEY: adminKey.key,
    })
  }
  const twice = await runImport('twice.csv', 'user_id,blocked,blocked\n9,true,false\n')
  assert.equal(twice.code, 2, twice.out)
  assert.match(twice.err, /two columns are named blocked/)
  assert.equal((await get(`${url}/admin/attributes/1/9`)).status, 404)
  for (const name of ['empty.csv', 'empty.ndjson']) {
    const empty = await runImport(name, '')
    assert.equal(empty.code, 2, empty.out)
    assert.match(empty.err, /the file is empty: nothing was imported/)
  }
  assert.equal((await runImport('header.csv', 'user_id,blocked\n')).code, 0)
})

test('a list from the future or from years ago is refused, and bellwire reconcile exits with an error', async (t) => {
  let at = new Date()
  const operator = await startListOperator(t, (response) => void response.end(listOf([], at)))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  await importLines(url, '1', [{ user_id: 'fresh', blocked: true }])
  for (const [hours, why] of [
    [2, /in the future/],
    [-24 * 365 * 6, /more than 7 days old/],
  ] as const) {
    at = new Date(Date.now() + hours * 3_600_000)
    const { code, out, err } = await reconcile(url, '--field', 'blocked')
    assert.notEqual(code, 0, out)
    assert.match(out + err, why)
  }
})
