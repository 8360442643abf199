// A changed configuration is applied to a running process: SIGHUP and POST /admin/reload.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { open, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import test from 'node:test'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { element, get, post, temporary } from '../support/sides.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/wait.ts'
import { addressesOf, bellwire, freePlatformPorts, freePorts, run, start } from './bellwire.ts'

const office = 'the-key-of-the-office-1'
const [good, old, fresh] = ['the-key-that-stays-1', 'the-key-that-goes-1', 'the-key-that-comes-1']

const configuration = (keys: readonly string[], more = '', level = 'info') => `
log: {level: ${level}}
operator:
  store: sqlite:operator.db
  suppression: none
  push: {provider: recording, file: pushed.ndjson}
  admin_keys: [{name: office, key: ${office}, scopes: [reload, audit]}]
  keys:
${keys.map((key) => `    - {name: ${key}, key: ${key}, brands: [1]}`).join('\n')}
${more}`

test('SIGHUP and POST /admin/reload replace keys; no request with a good key fails', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  await writeFile(file, configuration([good, old]))
  const operator = start(t, ['operator', '-c', file], freePorts)
  const { url, admin } = await addressesOf(operator)
  const send = async (key: string) => (await post(`${url}/channels/push/single`, element(), key)).status
  const reload = () => post(`${admin}/admin/reload`, {}, office)
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 200, 401])

  let replaced = false
  const callers = Array.from({ length: 8 }, async () => {
    const seen: number[] = []
    while (!replaced) seen.push(await send(good))
    return seen
  })
  await writeFile(file, configuration([good, fresh]))
  operator.child.kill('SIGHUP')
  await operator.line(/"server\.reloaded".*"applied":\["operator\.keys"\],"restart":\[\]/)
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 401, 200])

  const entry = async () => (await get(`${admin}/admin/audit?act=reload`, office)).body.entries[0]
  await until(async () => (await entry())?.by === 'SIGHUP', { awaited: 'the entry of the audit trail' })
  assert.deepEqual((await entry()).given, { applied: ['operator.keys'], restart: [] })

  await writeFile(file, configuration([good, fresh, 'short']))
  operator.child.kill('SIGHUP')
  await operator.line(/"server\.reload_refused".*bellwire\.yaml:11 {2}operator\.keys\[2\]\.key: expected at least 16/)
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 401, 200], 'nothing was changed')
  const refusalOf = async (by: string) =>
    until(async () => ((await entry())?.by === by ? (await entry()).given.refused : undefined), { awaited: by })
  assert.match(await refusalOf('SIGHUP'), /bellwire\.yaml:11 {2}operator\.keys\[2\]\.key/)
  const refused = await reload()
  assert.match(await refusalOf('office'), /bellwire\.yaml:11/)
  assert.deepEqual([refused.status, /^nothing was changed: bellwire\.yaml:11/.test(refused.body.error)], [409, true])

  await writeFile(file, configuration([good, old], '  stop_within: 30s', 'error'))
  assert.deepEqual((await reload()).body, {
    applied: ['operator.keys', 'log.level'],
    restart: ['operator.stop_within'],
  })
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 200, 401])
  const running = await run(['config', '--running', '--url', admin], { BELLWIRE_KEY: office })
  assert.match(running.out, /^operator\.stop_within +20s +default +30s$/m)
  assert.match(running.out, /^log\.level +error +bellwire\.yaml:2$/m)
  assert.match(running.out, /^operator\.port +0 +BELLWIRE_OPERATOR_PORT$/m)
  assert.doesNotMatch(running.out, /the-key-of-the-office/)
  const newBrand = configuration([good, old]).replace('brands: [1]', 'brands: [1, 7]')
  await writeFile(file, newBrand)
  const { body } = await reload()
  assert.deepEqual(body.applied.toSorted(), ['log.level', 'operator.keys'])
  const ofBrand = await post(`${url}/channels/push/single`, element({ brand_id: 7 }), good)
  assert.equal(ofBrand.status, 200, 'the brand is new')
  await writeFile(file, `${configuration([good, old])}\n  tls: {certificate: cert.pem, key: key.pem}\n`)
  const noFile = await reload()
  assert.match(noFile.body.error, /operator\.tls\.certificate: the file .*cert\.pem does not exist/)
  const [{ cert, key }, other] = [makeCertificate(), makeCertificate()]
  await writeFile(join(folder, 'cert.pem'), cert)
  await writeFile(join(folder, 'key.pem'), other.key)
  assert.match((await reload()).body.error, /operator\.tls\.key: the file .*key\.pem does not fit the certificate/)
  await writeFile(join(folder, 'key.pem'), key)
  assert.deepEqual((await reload()).body.restart, ['operator.tls.certificate', 'operator.tls.key'])
  assert.match(await (await fetch(`${admin}/metrics`)).text(), /^bellwire_reloads_refused_total 4$/m)
  // A secret between the start and the present configuration is masked, too.
  await writeFile(file, configuration([good, old], `  ${fresh}: 1`))
  operator.child.kill('SIGHUP')
  const masked = await operator.line(/"server\.reload_refused".*unknown setting/)
  assert.doesNotMatch(masked, new RegExp(fresh))
  replaced = true
  const seen = (await Promise.all(callers)).flat()
  assert.deepEqual([...new Set(seen)], [200], `${seen.length} requests with a good key`)
  operator.child.kill('SIGTERM')
  assert.equal((await operator.ended).code, 0)
})

// The proof `reload` has lanes that come, change and go, and their credentials, while requests arrive.
test('a reload reads the changed certificate of a lane, and sends what waits; one that cannot be read changes nothing', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const [first, second] = [makeCertificate(), makeCertificate()]
  const sent: number[] = []
  const server = createServer(first, async (request, response) => {
    const elements = (await json(request)) as { activity: { id: number } }[]
    const successful = elements.map(({ activity: { id } }) => ({ id, push_id: `p${id}` }))
    sent.push(...successful.map(({ id }) => id))
    return response.end(JSON.stringify({ successful, failed: [], fatal: [] }))
  })
  const { port } = await listenLocally(t, server)
  await writeFile(
    file,
    `
platform:
  store: sqlite:platform.db
  keys: [{name: crm, key: ${office}, scopes: [enqueue, counts, reload]}]
  lanes: [{brand: 1, channel: push, span: 5ms, to: {provider: operator-api, url: "https://localhost:${port}", api_key: the-key-of-the-lane-1, ca: ca.pem}}]
`,
  )
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, first.cert)
  const platform = start(t, ['platform', '-c', file], freePlatformPorts)
  const { admin } = await addressesOf(platform)
  const reload = () => post(`${admin}/admin/reload`, {}, office)
  const enqueue = (id: number) => post(`${admin}/admin/activities/push`, [element({ id })], office)
  const delivered = (id: number) => until(() => sent.includes(id), { awaited: `message ${id}` })
  await enqueue(1)
  await delivered(1)

  server.setSecureContext(second)
  server.closeAllConnections()
  await enqueue(2)
  await platform.line(/"lane\.held"/)
  await writeFile(ca, second.cert)
  assert.deepEqual((await reload()).body.applied, ['platform.lanes[0].to.ca'])
  await delivered(2)

  await writeFile(ca, 'no certificate')
  const { status, body } = await reload()
  assert.deepEqual(
    [status, /platform\.lanes\[0\]\.to\.ca: .*no PEM certificate/.test(body.error)],
    [409, true],
    body.error,
  )
  await enqueue(3)
  await delivered(3)
  assert.deepEqual(sent, [1, 2, 3], 'each message was sent once')
  assert.doesNotMatch(platform.out(), /"server\.stopping"/, 'only the lane was replaced')
  platform.child.kill('SIGTERM')
  assert.equal((await platform.ended).code, 0)
})

const insertNames = statement('test_insert_key', { name: 'text' })`
  insert into access_keys (name, digest, scopes, added_by, added_at)
  select r.name, '${'0'.repeat(64)}', '[]', 'another process', 0 from ${rows} r`
const deleteNames = statement('test_delete_key', { name: 'text' })`
  delete from access_keys where name in (select r.name from ${rows} r)`
const skip = await withoutPostgres()

test('if the new side cannot start, the old one starts again, and requests that arrived meanwhile are answered', {
  skip,
}, async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const store = await freshSchema()
  const written = (more = '', named = '') =>
    configuration([good], more)
      .replace('sqlite:operator.db', `"${store}"`)
      .replace('scopes: [reload, audit]}', `scopes: [reload, audit]}${named}`)
  await writeFile(file, written())
  const operator = start(t, ['operator', '-c', file], freePorts)
  const { url, admin } = await addressesOf(operator)
  const database = await openTestDatabase(t, store, { migrations: [] })
  const reload = () => post(`${admin}/admin/reload`, {}, office)
  const send = async () => (await post(`${url}/channels/push/single`, element(), good)).status
  const support = { name: 'support', key: 'the-key-of-the-support' }
  await writeFile(file, written('  keep: 91d', `, {name: ${support.name}, key: ${support.key}, scopes: [audit]}`))

  // Another process has added a key with this name, and the notification was lost: the start finds it, the check of the reload does not.
  await until(
    async () => {
      await database.commit([op(insertNames, [[support.name]])])
      if ((await reload()).status === 200) return true
      // This process has read its store just between.
      await database.commit([op(deleteNames, [[support.name]])])
      return false
    },
    { awaited: 'a reload that begins to replace the side' },
  )
  assert.equal(await send(), 200, 'a request that waited')
  await operator.line(
    /"server\.reload_refused".*operator\.admin_keys\[1\]\.name: the store of the operator has a key with the name/,
  )
  const { body } = await get(`${admin}/admin/settings`, office)
  assert.match(body.reload.error, /the store of the operator has a key/)
  assert.equal(body.settings.find(({ setting }: { setting: string }) => setting === 'operator.keep').value, '90d')
  assert.equal((await get(`${admin}/admin/keys`, support.key)).status, 401, 'the new configuration is not applied')

  await database.commit([op(deleteNames, [[support.name]]), database.wake('access_keys')])
  await until(async () => (await reload()).status === 200, { awaited: 'the reload is accepted' })
  await until(async () => (await get(`${admin}/admin/keys`, support.key)).status === 200, { awaited: 'the new side' })
  assert.equal(await send(), 200)
})

test('SIGHUP during the start reads the configuration again after it', async (t) => {
  const folder = await temporary(t)
  const [file, pipe] = [join(folder, 'bellwire.yaml'), join(folder, 'key')]
  execFileSync('mkfifo', [pipe])
  const written = (key: string) => `${configuration([key])}  public_url: "\${file:${pipe}}"\n`
  await writeFile(file, written(old))
  const operator = start(t, ['operator', '-c', file], freePorts)
  // Opens when the process reads its configuration.
  const first = await open(pipe, 'w')
  await writeFile(file, written(good))
  operator.child.kill('SIGHUP')
  await first.writeFile('https://operator.example')
  await first.close()
  const { url } = await addressesOf(operator)
  const again = await open(pipe, 'w')
  await again.writeFile('https://operator.example')
  await again.close()
  await operator.line(/"server\.reloaded".*"applied":\["operator\.keys"\]/)
  assert.equal((await post(`${url}/channels/push/single`, element(), good)).status, 200)
})

test('SIGHUP does not end a side that loads its program, and ends other commands', async (t) => {
  const early = join(await temporary(t), 'early.cjs')
  // The command sets this before it loads anything.
  const kill = `process.kill(process.pid, 'SIGHUP')`
  // A shell may ignore the signal, as with nohup, and its children inherit that. The end of a listener restores the default.
  const restore = `process.on('SIGHUP', () => {}).removeAllListeners('SIGHUP')`
  await writeFile(
    early,
    `${restore}; Object.defineProperty(process, 'emitWarning', { get: () => () => {}, set: () => ${kill} })`,
  )
  const [node, ...rest] = bellwire
  const signalOf = (...args: readonly string[]) => spawnSync(node, ['--require', early, ...rest, ...args]).signal
  assert.equal(signalOf('operator', '--help'), null)
  assert.equal(signalOf('platform', 'move-brand', '--help'), 'SIGHUP')
  assert.equal(signalOf('lanes', '--help'), 'SIGHUP')
})

test('a stop during a reload ends the process in order', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const written = (more: string) => configuration([good], `  stop_within: 5s\n${more}`)
  await writeFile(file, written(''))
  const operator = start(t, ['operator', '-c', file], freePorts)
  await addressesOf(operator)
  await writeFile(file, written('  keep: 91d'))
  operator.child.kill('SIGHUP')
  operator.child.kill('SIGTERM')
  const { code, err } = await operator.ended
  assert.deepEqual([code, err], [0, ''])
})

test('if neither the new side nor the old one can start, the process ends, and its supervisor starts it again', {
  skip,
}, async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const proxy = await tcpProxy(t, await freshSchema())
  const written = (more = '') => configuration([good], more).replace('sqlite:operator.db', `"${proxy.url}"`)
  await writeFile(file, written('  stop_within: 2s'))
  const operator = start(t, ['operator', '-c', file], freePorts)
  const { url, admin } = await addressesOf(operator)
  const reload = () => post(`${admin}/admin/reload`, {}, office)
  await writeFile(file, written('  stop_within: 2s\n  keep: 91d'))
  proxy.cut()
  operator.child.kill('SIGHUP')
  await operator.line(/"server\.reload_refused".*nothing was changed: the store is away/)
  assert.equal((await reload()).status, 503)
  assert.equal(operator.child.exitCode, null, 'the running side waits for its store')
  proxy.restore()
  await until(async () => (await reload()).status === 200, { awaited: 'the store is back' })
  await until(async () => (await fetch(`${admin}/readyz`)).status === 200, { awaited: 'the new side' })

  // The store goes away between the check and the stop.
  await writeFile(file, written('  stop_within: 2s\n  keep: 92d'))
  const sending = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => sending.destroy())
  const head = [
    'POST /channels/push/single HTTP/1.1',
    'host: x',
    `x-api-key: ${good}`,
    'content-type: application/json',
  ]
  sending.write([...head, 'content-length: 100', 'expect: 100-continue', '', ''].join('\r\n'))
  await once(sending, 'data')
  operator.child.kill('SIGHUP')
  await operator.line(/"server\.reloaded".*"operator\.keep"/)
  await until(() => operator.out().match(/"server\.reloaded"/g)?.length === 2, { awaited: 'the second reload' })
  proxy.cut()
  assert.equal((await operator.ended).code, 1)
  assert.match(operator.out(), /"process\.failed"/)
})
