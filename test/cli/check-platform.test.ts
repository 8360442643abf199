import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Report } from '../../src/checker/report-schema.ts'
import { operatorApi } from '../../src/providers/operator-api.ts'
import { freePort } from '../support/free-port.ts'
import { adminKey, startPlatform, temporary } from '../support/sides.ts'
import { type Run, run } from './bellwire.ts'

const key = 'the-key-of-the-operator'

/** A platform whose batches have at most `max` messages, and the command that checks it. */
async function startedPlatform(t: TestContext, max: number) {
  const port = await freePort()
  const provider = operatorApi({ url: `http://127.0.0.1:${port}`, apiKey: key })
  const retry = { firstMs: 50, mostMs: 500 }
  const platform = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', max, spanMs: 50, retry, provider }],
  })
  const enqueue = `curl -sSf "${platform.url}/admin/activities/$CHANNEL" -H "x-api-key: ${adminKey.key}" -H "content-type: application/x-ndjson" --data-binary "@$FILE"`
  const times = ['--patience', '10s', '--quiet', '200ms']
  const check = (args: readonly string[], command = enqueue): Promise<Run> =>
    run(t, ['check', 'platform', '--port', String(port), ...times, '--enqueue-command', command, ...args], {
      BELLWIRE_KEY: key,
    })
  return { check, port }
}

test('check platform: a passing run exits with 0, writes its files and a report, and prints no key', async (t) => {
  const { check, port } = await startedPlatform(t, 10)
  const folder = await temporary(t)
  const [json, html] = [join(folder, 'report.json'), join(folder, 'report.html')]
  const reports = ['--report', json, '--report', html]
  const args = ['--features', 'push.batch', '--batch-max', '10', '--only', 'batch,request', '--folder', folder]
  const { code, out, err } = await check([...args, ...reports])
  assert.equal(code, 0, out + err)
  assert.match(err, new RegExp(`must send to http://127\\.0\\.0\\.1:${port}, brand 1, with the API key that you gave`))
  assert.match(err, /The platform sends to push\.batch: \d+ checks/)
  assert.match(out, /All \d+ required rules that were checked are kept\./)
  const report = JSON.parse(await readFile(json, 'utf8')) as Report
  assert.equal(report.subject, 'platform')
  assert.equal(report.conclusion, 'passed')
  assert.match(await readFile(html, 'utf8'), /Platform that sent to/)
  assert.ok(!`${out}${err}${JSON.stringify(report)}`.includes(key))
  assert.match((await readdir(folder)).join(), /01-push-first\.ndjson/)
})

test('check platform: a violated must exits with 1, with its requests', async (t) => {
  const { check } = await startedPlatform(t, 20)
  const { code, out, err } = await check(['--features', 'push.batch', '--batch-max', '10', '--only', 'batch', '--json'])
  assert.equal(code, 1, err)
  assert.match(err, /✗ batch\.maximum \(push batch\): request 1: 20 messages, agreed are 10/)
  const { results } = JSON.parse(out) as Report
  const [failed] = results.filter(({ status }) => status === 'failed')
  assert.equal(failed?.exchanges[0]?.decisive, true)
  assert.equal(failed?.exchanges[0]?.curl, undefined)
})

test('check platform: a platform that sends nothing is no finding, and exits with 2', async (t) => {
  const { check } = await startedPlatform(t, 10)
  const { code, err } = await check(['--patience', '300ms'], 'true')
  assert.equal(code, 2)
  assert.match(err, /could not run: none of the records that were enqueued arrived within 0\.3 s/)
  const failing = await check([], 'echo no such queue >&2; exit 3')
  assert.equal(failing.code, 2)
  assert.match(failing.err, /the enqueue command exited with 3: no such queue/)
})

test('check platform: without a command and a terminal the error names the missing option', async (t) => {
  const { code, err } = await run(t, ['check', 'platform'])
  assert.equal(code, 2)
  assert.match(err, /give --enqueue-command, or run on a terminal/)
})
