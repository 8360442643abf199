import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { amqpConsumer } from '../../src/base/brokers/amqp-consumer.ts'
import type { PlatformOptions } from '../../src/sides/platform/options.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Report } from '../../src/tools/checker/report-schema.ts'
import { statusSecret } from '../checker/plain-endpoints.ts'
import { uniqueName } from '../suites/device-channel.ts'
import { freePort } from '../support/free-port.ts'
import { rabbitmq, withoutRabbitmq } from '../support/services/rabbitmq.ts'
import { adminKey, startPlatform, temporary } from '../support/sides.ts'
import { type Run, run } from './bellwire.ts'

const key = 'the-key-of-the-operator'

/** A platform whose batches have at most `max` messages, and the command that checks it. */
async function startedPlatform(t: TestContext, max: number, more: Partial<Omit<PlatformOptions, 'lanes'>> = {}) {
  const port = await freePort()
  const provider = operatorApi({ url: `http://127.0.0.1:${port}`, apiKey: key })
  const retry = { firstMs: 50, mostMs: 500 }
  const status = { secrets: [statusSecret] }
  const platform = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', max, spanMs: 50, retry, provider, status }],
    ...more,
  })
  const enqueue = `curl -sSf "${platform.url}/admin/activities/$CHANNEL" -H "x-api-key: ${adminKey.key}" -H "content-type: application/x-ndjson" --data-binary "@$FILE"`
  const times = ['--patience', '10s', '--quiet', '200ms']
  const check = (args: readonly string[], command = enqueue): Promise<Run> =>
    run(['check', 'platform', '--port', String(port), ...times, '--enqueue-command', command, ...args], {
      BELLWIRE_KEY: key,
    })
  return { check, port, url: platform.url }
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
  assert.match(err, /A batch is sent after its time span: choose a longer --patience/)
  const failing = await check([], 'echo no such queue >&2; exit 3')
  assert.equal(failing.code, 2)
  assert.match(failing.err, /the enqueue command exited with 3: no such queue/)
})

test('check platform: without a command and a terminal the error names the missing option', async () => {
  const { code, err } = await run(['check', 'platform'])
  assert.equal(code, 2)
  assert.match(err, /give --enqueue-command, or run on a terminal/)
})

test('check platform: a dry run prints the plan and the missing preparations, and has nothing enqueued', async (t) => {
  const { check } = await startedPlatform(t, 10)
  const assumed = await check(['--dry-run', '--batch-max', '10'], 'exit 3')
  assert.equal(assumed.code, 0, assumed.err)
  assert.match(assumed.err, /is assumed to send to push\.batch, site\.batch: \d+ checks, .* at most \d+ records/)
  assert.match(assumed.err, /name it: --batch-span 2s/)
  assert.match((await check(['--dry-run', '--features', 'push.single'])).err, /would send to push\.single:/)
})

test('check platform: the command of the documentation is within its own limit, and a dry run refuses what the run refuses', async (t) => {
  const { check } = await startedPlatform(t, 10)
  const documented = ['--dry-run', '--batch-max', '500', '--platform-timeout', '30s']
  const { code, err } = await check(documented)
  assert.equal(code, 0, err)
  const refused = await check([...documented, '--max-messages', '100'])
  assert.equal(refused.code, 2)
  assert.match(refused.err, /the run would need up to \d+ records, and --max-messages is 100/)
})

test('check platform: the settings can be in a file, and options override it', async (t) => {
  const { check, port } = await startedPlatform(t, 10)
  const folder = await temporary(t)
  const file = join(folder, 'check-platform.yaml')
  const settings = ['port: 1', 'features: [push.batch]', 'batch_max: 10', 'batch_span: 100ms', 'folder: records']
  await writeFile(file, `${settings.join('\n')}\nagreed: {Retries: without limit}\n`)
  const { code, out, err } = await check(['--file', file, '--only', 'batch.span', '--json'])
  assert.equal(code, 0, err)
  assert.match(err, new RegExp(`must send to http://127\\.0\\.0\\.1:${port}`))
  const { results, agreed } = JSON.parse(out) as Report
  assert.deepEqual(
    results.map(({ check: id, status }) => `${id} ${status}`),
    ['batch.span passed', 'batch.span not_applicable'],
  )
  assert.deepEqual(agreed, { Retries: 'without limit' })
  assert.match((await readdir(join(folder, 'records'))).join(), /01-push-first\.ndjson/)
  await writeFile(file, 'batch_span: soon\nagreed: [1]\n')
  const wrong = await check(['--file', file])
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /batch_span/)
  assert.match(wrong.err, /agreed.*texts by name/s)
})

test('check platform: a platform that cannot be restarted is no finding', async (t) => {
  const { check } = await startedPlatform(t, 10)
  const { out } = await check(['--restart-command', 'echo no such unit >&2; exit 5', '--only', 'restart', '--json'])
  const { results } = JSON.parse(out) as Report
  assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(['not_judged']))
  assert.match(results[0]?.seen ?? '', /the restart command exited with 5: no such unit/)
})

test('check platform: links over REST and RabbitMQ, and statuses, with their settings in a file', {
  skip: await withoutRabbitmq(),
}, async (t) => {
  const [amqp, queue, linkKey] = [await rabbitmq(), uniqueName('1'), 'the-key-of-device-links']
  const { check, url } = await startedPlatform(t, 10, {
    keys: [adminKey, { name: 'operator', key: linkKey, scopes: ['devices'], brands: ['1'] }],
    deviceLinks: [{ brands: '1', consumer: amqpConsumer({ url: amqp, queue }) }],
  })
  const folder = await temporary(t)
  const file = join(folder, 'check-platform.yaml')
  await writeFile(join(folder, 'link-key'), linkKey)
  await writeFile(join(folder, 'secret'), statusSecret)
  const devices = `curl -sSf "${url}/admin/devices?brand=1&user_id=$USER_ID" -H "x-api-key: ${adminKey.key}"`
  const settings = {
    platform_url: url,
    link_key_file: 'link-key',
    status_secret_file: 'secret',
    devices_command: devices,
    other_user: 'another-user',
    links: [{ amqp, routing_key: queue }],
  }
  await writeFile(file, JSON.stringify(settings))
  const { code, out, err } = await check([
    '--file',
    file,
    '--features',
    'push.batch',
    '--only',
    'request,link,status',
    '--json',
  ])
  assert.equal(code, 0, err)
  const { results } = JSON.parse(out) as Report
  const others = results.filter(({ status }) => status !== 'passed' && status !== 'not_applicable')
  assert.deepEqual(
    others.map(({ check: id, status, seen }) => `${id} ${status}: ${seen}`),
    [],
  )
  const ids = results.map(({ check: id }) => id)
  assert.equal(ids.filter((id) => /^(link|status)\./.test(id)).length, 19)
  assert.ok(!`${out}${err}`.includes(linkKey))
  await writeFile(join(folder, 'secret'), 'not a secret')
  assert.match((await check(['--file', file])).err, /has no secret: write whsec_/)
})
