import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { chmod, copyFile, readdir, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Migration } from '../../src/base/store/database.ts'
import { sideMigration } from '../../src/base/store/migrate.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { fileSource } from '../../src/subjects/attributes/file.ts'
import { answer, apiKey, appId, startPushProvider } from '../providers/http/push-provider.ts'
import { startConfiguredOperator } from '../support/configured-sides.ts'
import { onEachEngine, onPostgres } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { rabbitmq, withoutRabbitmq } from '../support/services/rabbitmq.ts'
import { element, keys, post, startOperator, temporary } from '../support/sides.ts'
import { freePorts, run } from './bellwire.ts'

interface Finding {
  readonly setting: string
  readonly ok: boolean
  readonly warning?: true
  readonly description: string
  readonly remedy?: string
}

interface Report {
  readonly code: number | null
  readonly ok: boolean
  readonly out: string
  /** The findings about this setting. */
  of(setting: string): Finding[]
}

async function doctor(t: TestContext, yaml: string, env: NodeJS.ProcessEnv = {}, args: string[] = []): Promise<Report> {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  await writeFile(file, yaml)
  const { code, out, err } = await run(['doctor', '--config', file, '--json', ...args], env)
  assert.equal(err, '', out)
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] }
  return { code, ok, out, of: (setting) => findings.filter((finding) => finding.setting === setting) }
}

const operatorKey = 'operator-key-000000000001'
const operator = (push: string, more = 'suppression: none', port = 0): string => `
operator:
  port: ${port}
  keys: [{name: platform, key: ${operatorKey}, brands: [1, 2]}]
  ${more}
  push: ${push}
`
const platform = (url: string, key: string = keys.both.key, mode = 'batch'): string => `
platform:
  port: 0
  keys: [{name: crm, key: platform-key-00000000001, scopes: [enqueue, counts]}]
  lanes:
    - {brand: 1, channel: push, mode: ${mode}, to: {provider: operator-api, url: "${url}", api_key: ${key}}}
`
const oneSignal = (url: string): string =>
  `{provider: http, preset: onesignal, url: "${url}/notifications", user_id: "{{brand}}-{{user_id}}", secrets: [{name: app_id, value: ${appId}}, {name: api_key, value: ${apiKey}}]}`

test('a proxy of the environment that has no effect is a warning', async (t) => {
  const env = { HTTPS_PROXY: 'http://ann:canary@proxy.example:3128' }
  const { of } = await doctor(t, operator('recording'), env)
  const warning = of('configuration').find((finding) => finding.warning && /HTTPS_PROXY/.test(finding.description))
  assert.match(warning?.description ?? '', /^HTTPS_PROXY is set and has no effect/)
  assert.doesNotMatch(JSON.stringify(of('configuration')), /canary/)
  const proxied = await doctor(
    t,
    operator(`{provider: http, url: "http://127.0.0.1:1/", proxy: "http://127.0.0.1:1"}`),
    env,
  )
  assert.doesNotMatch(proxied.out, /HTTPS_PROXY/)
})

test('the broker of an intake is checked: a missing queue, an unreachable broker, an existing queue', {
  skip: await withoutRabbitmq(),
}, async (t) => {
  const { url } = await startOperator(t)
  const broker = await rabbitmq()
  const at = (intake: string) => `accept_risks: [clear_text_to_other_hosts]\n${platform(url)}  intake: ${intake}\n`
  const queue = `activities-test-${randomUUID()}`
  const port = await freePort()
  const report = await doctor(
    t,
    at(
      `[{from: {amqp: "${broker}", queue: ${queue}}}, {from: {amqp: "${broker}", queue: ${queue}2, declare: false}}, {from: {amqp: "amqp://127.0.0.1:${port}/"}}]`,
    ),
  )
  const [found, missing, unreachable] = [0, 1, 2].map((i) => report.of(`platform.intake[${i}].from`)[0])
  assert.partialDeepStrictEqual(found, {
    ok: true,
    description: `the queue ${queue} is declared when the platform starts`,
  })
  assert.match(missing?.description ?? '', /NOT_FOUND/)
  assert.equal(missing?.remedy, 'declare it, or set declare: true')
  assert.match(unreachable?.description ?? '', /ECONNREFUSED/)
  assert.equal(report.code, 1)
})

test('without problems the exit code is 0', async (t) => {
  const provider = await startPushProvider(t)
  const { url } = await startOperator(t)
  const report = await doctor(t, operator(oneSignal(provider.url)) + platform(url))
  assert.equal(report.code, 0, report.out)
  assert.equal(report.ok, true)
  assert.match(
    report.of('operator.store')[0]?.description ?? '',
    /operator\.db does not exist yet: the first start creates it/,
  )
  assert.deepEqual(
    report.of('operator.push').map(({ description }) => description),
    [`onesignal: ${provider.url} answers (404)`, `this machine's clock agrees with ${provider.url}'s`],
  )
  assert.match(report.of('platform.lanes[0].to')[0]?.description ?? '', /answers and accepts the key/)
  assert.deepEqual(provider.requests, [], 'nothing was sent')
})

test('suppression: none, example keys and the recording provider are warnings, not problems', async (t) => {
  const yaml = operator('{provider: recording, file: data/pushed.ndjson}').replace(
    operatorKey,
    'example-operator-key-1',
  )
  const { code, of, out } = await doctor(t, yaml)
  assert.equal(code, 0, out)
  for (const setting of ['operator.suppression', 'operator.keys', 'operator.push']) {
    const [finding] = of(setting)
    assert.equal(finding?.warning, true, `${setting} ${out}`)
    assert.ok(finding.remedy)
  }
})

test('sources of attributes answer for their own brands; a brand without a source of a forbidding field is a warning', async (t) => {
  const folder = await temporary(t)
  const [first, second] = [join(folder, 'first.csv'), join(folder, 'second.csv')]
  await writeFile(first, 'user_id,blocked,excluded\n1001,true,false\n')
  await writeFile(second, 'user_id,blokced,excluded,consent_push_notification\n1001,true,false,true\n')
  const attributes = `attributes: [{file: ${first}, brand: 1, brands: [1]}, {file: ${second}, brand: 2, brands: [2]}]`
  const { code, of, out } = await doctor(t, operator('recording', attributes))
  assert.equal(code, 0, out)
  const [answers, warning] = of('operator.attributes')
  assert.match(answers?.description ?? '', /answers for blocked, excluded, consent_push_notification$/)
  assert.equal(warning?.warning, true, out)
  assert.match(warning.description, /^no source answers for blocked of brand 2: /)
})

test('a risk is a problem with a remedy; an accepted risk is a warning', async (t) => {
  const shared = operator(
    'recording',
    `suppression: none\n  admin_keys: [{name: a, key: ${operatorKey}, scopes: [counts, read]}]`,
  )
  const refused = await doctor(t, shared)
  assert.equal(refused.code, 1)
  assert.match(refused.of('operator.admin_keys[0].key')[0]?.remedy ?? '', /accept_risks: \[shared_keys\]/)
  const accepted = await doctor(t, `accept_risks: [shared_keys]${shared}`)
  assert.equal(accepted.code, 0, accepted.out)
  const [finding] = accepted.of('operator.admin_keys[0].key')
  assert.deepEqual([finding?.ok, finding?.warning], [true, true])
  assert.match(finding?.description ?? '', /accepted: shared_keys/)
})

test('secrets that every user of the machine can read are warnings, and errors with --strict', async (t) => {
  const folder = await temporary(t)
  const files = Object.fromEntries(['bellwire.yaml', 'operator.db', 'key'].map((name) => [name, join(folder, name)]))
  await writeFile(files['bellwire.yaml'] as string, operator('recording'), { mode: 0o644 })
  await writeFile(files['operator.db'] as string, '', { mode: 0o644 })
  await writeFile(files.key as string, 'another-key-of-an-operator', { mode: 0o644 })
  const adminKeys = join(folder, 'admin-keys') // readable by its group, which may be intended
  await writeFile(adminKeys, '[{name: a, key: admin-key-00000000001, scopes: [counts, read]}]', { mode: 0o640 })
  const env = {
    BELLWIRE_CONFIG: files['bellwire.yaml'],
    BELLWIRE_OPERATOR_ADMIN_KEYS_FILE: adminKeys,
    BELLWIRE_OPERATOR_KEYS_0_KEY_FILE: files.key,
  }
  const warnings = async (...args: string[]): Promise<{ code: number | null; warned: string[] }> => {
    const { code, out } = await run(['doctor', '--json', ...args], env)
    const { findings } = JSON.parse(out) as { findings: Finding[] }
    return {
      code,
      warned: findings.flatMap(
        ({ description }) => /every user of this machine may read ([^ ,]+)/.exec(description)?.[1] ?? [],
      ),
    }
  }
  assert.deepEqual((await warnings()).warned, [], 'no other user can enter the folder')
  await chmod(folder, 0o755)
  // The operator's key comes from a file: the configuration itself contains no secret.
  assert.deepEqual((await warnings()).warned, [files.key, files['operator.db']])
  await writeFile(
    files['bellwire.yaml'] as string,
    operator('recording').replace(operatorKey, 'another-key-of-an-operator'),
  )
  const { code, warned } = await warnings('--strict')
  assert.deepEqual(warned, [files['bellwire.yaml'], files.key, files['operator.db']])
  assert.equal(code, 1)
})

test('doctor changes no files', async (t) => {
  const folder = await temporary(t)
  await writeFile(join(folder, 'bellwire.yaml'), operator('{provider: recording, file: data/pushed.ndjson}'))
  const { code } = await run(['doctor', '-c', join(folder, 'bellwire.yaml')])
  assert.equal(code, 0)
  assert.deepEqual(await readdir(folder), ['bellwire.yaml'])
})

test('each problem is reported with a remedy, and the exit code is 1', async (t) => {
  const { url } = await startOperator(t)
  const file = join(await temporary(t), 'users.csv')
  const yaml = operator(oneSignal('http://127.0.0.1:1'), `attributes: [{file: ${file}}]`)
  await writeFile(file, 'user_id,brand,blocked\n1001,1,perhaps\n')
  const unreadable = await doctor(t, yaml + platform(url, 'not-the-key-000000001'))
  assert.equal(unreadable.code, 1, unreadable.out)
  assert.match(unreadable.of('operator.attributes[0].file')[0]?.description ?? '', /users\.csv:2: blocked is "perhaps"/)
  const [lane] = unreadable.of('platform.lanes[0].to')
  assert.equal(lane?.ok, false)
  assert.match(lane?.description ?? '', /refuses the key \(401\)/)
  assert.match(lane?.remedy ?? '', /set api_key/)

  await writeFile(file, 'user_id,brand,blocked\n1001,1,true\n1001,2,false\n')
  const readable = await doctor(t, yaml + platform('http://127.0.0.1:1'))
  assert.equal(readable.code, 1, readable.out)
  assert.match(readable.of('operator.attributes')[0]?.description ?? '', /users\.csv answers for blocked$/)
  assert.match(
    readable.of('operator.push')[0]?.description ?? '',
    /onesignal: http:\/\/127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/,
  )
  assert.match(readable.of('platform.lanes[0].to')[0]?.description ?? '', /does not answer/)
})

test('the pointers of title and body are reported, with a warning if messages had neither', async (t) => {
  const { url } = await startOperator(t)
  const port = Number(new URL(url).port)
  const contentFinding = async (more: string, main = port) => {
    const { of } = await doctor(t, operator('{provider: recording}', `suppression: none\n  ${more}`, main))
    return of('operator.content')[0]
  }
  assert.match(
    (await contentFinding('content: {title: /headline}'))?.description ?? '',
    /title is at \/headline, the body at \/body/,
  )
  assert.match((await contentFinding('content: {required: true}'))?.description ?? '', /is refused$/)
  await post(`${url}/channels/site/single`, element({}, { title: undefined, body: undefined }))
  const finding = await contentFinding('')
  assert.equal(finding?.warning, true)
  assert.match(finding?.description ?? '', /delivered with neither since the start: 1$/)
  for (let id = 2; id <= 10; id++)
    await post(`${url}/channels/site/single`, element({ id }, { title: undefined, body: undefined }))
  // With `admin`, its address has the metrics.
  const alert = await contentFinding(`admin: {port: ${port}}`, 0)
  assert.equal(alert?.ok, false)
  assert.match(alert?.description ?? '', /no message since the start had either/)
})

test('a list that has shrunk at the running operator is a problem with the command that confirms it', async (t) => {
  const file = join(await temporary(t), 'users.csv')
  const users = Array.from({ length: 40 }, (_, n) => `${n},1,true,false`)
  const list = (rows: readonly string[]) =>
    ['user_id,brand,blocked,excluded', ...rows, '7,2,false,false', ''].join('\n')
  await writeFile(file, list(users))
  const { url } = await startOperator(t, { attributes: await fileSource(file) })
  await writeFile(file, list(users.slice(0, 5)))
  const main = Number(new URL(url).port)
  const finding = async () => {
    await post(`${url}/channels/push/single`, element())
    const { of } = await doctor(t, operator('recording', `attributes: [{file: ${file}}]`, main))
    return of('operator.attributes')[1]
  }
  assert.equal((await finding())?.remedy, `if the list is right: touch ${file}.confirmed`)
  await writeFile(`${file}.confirmed`, '')
  assert.equal(await finding(), undefined)
})

test('errors in the configuration are reported as problems', async (t) => {
  const { code, of } = await doctor(t, operator('{provider: http, preset: onesignal}').replace('port: 0', 'prot: 0'))
  assert.equal(code, 1)
  assert.match(of('operator.prot')[0]?.remedy ?? '', /did you mean port\?/)
})

test('the text output has a mark, the setting, the finding, and the remedy below', async (t) => {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, operator(oneSignal('http://127.0.0.1:1')))
  const { code, out } = await run(['doctor', '-c', file])
  assert.equal(code, 1)
  assert.match(out, /^✓ configuration: all settings are valid$/m)
  assert.match(out, /^! operator\.suppression: none: .*\n {4}write attributes: /m)
  assert.match(out, /^✗ operator\.push: onesignal: .*\n {4}check url/m)
  assert.match(out, /\n\nOne problem, one warning\.\n$/)
  await writeFile(file, operator('recording'))
  const warned = await run(['doctor', '-c', file])
  assert.deepEqual([warned.code, warned.out.split('\n').at(-2)], [0, 'No problems, 2 warnings.'])
  const strict = await run(['doctor', '-c', file, '--strict'])
  assert.deepEqual([strict.code, strict.out], [1, warned.out])
})

test('a wrong clock is reported', async (t) => {
  const provider = await startPushProvider(t)
  provider.script = (_asked, response) => {
    answer(response, 200, {}, { date: new Date(Date.now() + 3_600_000).toUTCString() })
    return true
  }
  const { code, of } = await doctor(t, operator(oneSignal(provider.url)))
  assert.equal(code, 1)
  assert.match(of('operator.push')[1]?.description ?? '', /clock is 3\d{3} s behind http/)
})

test('a check without an answer ends after --timeout', async (t) => {
  const { url } = await listenLocally(
    t,
    createServer(() => {}),
  )
  const { code, of, out } = await doctor(t, operator(oneSignal(url)), {}, ['--timeout', '300ms'])
  assert.equal(code, 1, out)
  assert.match(of('operator.push')[0]?.description ?? '', /no answer within 0\.3 s/)
})

test('a running server is detected and not disturbed', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const provider = await startPushProvider(t)
  await writeFile(file, operator(oneSignal(provider.url)))
  const { url } = await startConfiguredOperator(t, file)
  const env = { BELLWIRE_OPERATOR_PORT: new URL(url).port, BELLWIRE_CONFIG: file }

  const send = async (): Promise<number> =>
    (await post(`${url}/channels/push/single`, element({ user_id: '1001' }), operatorKey)).status
  assert.equal(await send(), 200)
  const reports = Promise.all([1, 2, 3].map(() => run(['doctor', '--json'], env)))
  for (let i = 0; i < 50; i++) assert.equal(await send(), 200)
  for (const { code, out } of await reports) {
    assert.equal(code, 0, out)
    const findings = (JSON.parse(out) as { findings: Finding[] }).findings
    assert.match(
      findings.find(({ setting }) => setting === 'operator.port')?.description ?? '',
      /^running on .*, ready$/,
    )
    assert.match(
      findings.find(({ setting }) => setting === 'operator.store')?.description ?? '',
      /exists and is writable \(\d+\.\d MB\)/,
    )
  }
  assert.equal(await send(), 200)
})

test('a port that another program uses is reported', async (t) => {
  const provider = await startPushProvider(t)
  const port = Number(new URL(provider.url).port)
  const { code, of } = await doctor(t, operator('recording', 'suppression: none', port))
  assert.equal(code, 1)
  assert.match(of('operator.port')[0]?.description ?? '', /another program listens/)
})

test('a store that is a folder is reported', async (t) => {
  const folder = await temporary(t)
  const { code, of } = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: `sqlite:${folder}` })
  assert.equal(code, 1)
  assert.match(of('operator.store')[0]?.description ?? '', /is a folder/)
})

test('a store that is not a database, or in a folder without write access, is reported', async (t) => {
  const folder = await temporary(t)
  await writeFile(join(folder, 'notes.txt'), 'this is not a database')
  const { code, of } = await doctor(t, operator('recording'), {
    BELLWIRE_OPERATOR_STORE: `sqlite:${join(folder, 'notes.txt')}`,
  })
  assert.equal(code, 1)
  assert.match(of('operator.store')[0]?.description ?? '', /notes\.txt is not a SQLite database/)
  if (process.getuid?.() === 0) return // root has write access everywhere
  await chmod(folder, 0o500)
  const locked = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: `sqlite:${join(folder, 'a/b.db')}` })
  await chmod(folder, 0o700)
  assert.match(locked.of('operator.store')[0]?.description ?? '', /is not writable/)
})

const later: Migration = { name: 'later/1', statements: () => [], readableFrom: '99.0.0' }

/** The doctor's finding about the store, and the error with which the operator does not start with it. */
async function refusalOf(t: TestContext, store: string): Promise<string> {
  const { code, of } = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: store })
  const { ok, description = '', remedy = '' } = of('operator.store')[0] ?? {}
  assert.deepEqual([code, ok], [1, false], description)
  const started = await run(['operator', '--config', await fileOf(t, operator('recording'))], {
    BELLWIRE_OPERATOR_STORE: store,
  })
  assert.notEqual(started.code, 0)
  assert.ok(started.err.includes(remedy), `${remedy}\n${started.err}`)
  return description
}

async function fileOf(t: TestContext, yaml: string): Promise<string> {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, yaml)
  return file
}

onEachEngine('a store with which the side does not start is reported with the same remedy', async (t, store) => {
  await (await openDatabase(store, { migrations: operatorMigrations })).close()
  const { of } = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: store })
  assert.equal(of('operator.store')[0]?.ok, true)
  await (await openDatabase(store, { migrations: [sideMigration('platform')] })).close()
  assert.match(await refusalOf(t, store), /the store is that of the platform/)
})

onEachEngine('a store that a later release has changed is reported', async (t, store) => {
  await (await openDatabase(store, { migrations: [...operatorMigrations, later] })).close()
  assert.match(await refusalOf(t, store), /changed by a later version of Bellwire \(migration later\/1\)/)
})

test('a truncated SQLite file is reported, unless a process may have its other pages in the log', async (t) => {
  const path = join(await temporary(t), 'operator.db')
  await (await openDatabase(`sqlite:${path}`, { migrations: operatorMigrations })).close()
  await truncate(path, 20_000)
  assert.match(await refusalOf(t, `sqlite:${path}`), /operator\.db is damaged/)
  await writeFile(`${path}-wal`, 'the pages')
  const { of } = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: `sqlite:${path}` })
  assert.equal(of('operator.store')[0]?.ok, true)
  await writeFile(path, 'SQLite format 3\0')
  assert.match(await refusalOf(t, `sqlite:${path}`), /operator\.db is not a SQLite database/)
})

test('the check of a SQLite file makes no files, and reports the file of the CRM too', async (t) => {
  const folder = await temporary(t)
  const [main, crm] = ['sqlite:platform.db', 'sqlite:platform-crm.db'].map((url) =>
    url.replace(':', `:${folder}/`),
  ) as [string, string]
  await (await openDatabase(main, { migrations: [] })).close()
  await (await openDatabase(crm, { migrations: [later] })).close()
  const before = await readdir(folder)
  const { of } = await doctor(t, platform('http://127.0.0.1:1'), { BELLWIRE_PLATFORM_STORE: main })
  assert.deepEqual(await readdir(folder), before)
  const [found, ofCrm] = of('platform.store')
  assert.equal(found?.ok, true)
  assert.match(ofCrm?.description ?? '', /platform-crm\.db: the store was changed by a later version/)
})

onPostgres('PostgreSQL is checked, and its problems are reported without the password', async (t, store) => {
  const right = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: store })
  assert.equal(right.code, 0, right.out)
  assert.match(
    right.of('operator.store')[0]?.description ?? '',
    /PostgreSQL at .* answers \(\d+.*this user may create tables; the tables of .* take \d+\.\d MB/,
  )
  const wrong = new URL(store)
  wrong.pathname = '/no_such_database'
  const missing = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: wrong.href })
  assert.equal(missing.code, 1)
  assert.match(missing.of('operator.store')[0]?.remedy ?? '', /create the database/)
  wrong.host = '127.0.0.1:1'
  wrong.password = 'canary-store-password'
  const unreachable = await doctor(t, operator('recording'), { BELLWIRE_OPERATOR_STORE: wrong.href })
  assert.equal(unreachable.code, 1)
  assert.match(unreachable.of('operator.store')[0]?.description ?? '', /ECONNREFUSED/)
  assert.doesNotMatch(unreachable.out, /canary/)
})

test('the OneSignal example has warnings only for its key and its suppression', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'onesignal.yaml')
  await copyFile(join(import.meta.dirname, '../../examples/onesignal.yaml'), file)
  const provider = await startPushProvider(t)
  const { code, out } = await run(['doctor', '-c', file, '--json'], {
    BELLWIRE_OPERATOR_PUSH_URL: `${provider.url}/notifications`,
    ...freePorts,
  })
  assert.equal(code, 0, out)
  const warned = (JSON.parse(out) as { findings: Finding[] }).findings.filter(({ warning }) => warning)
  assert.deepEqual(
    warned.map(({ setting }) => setting),
    ['operator.keys', 'operator.suppression'],
  )
})
