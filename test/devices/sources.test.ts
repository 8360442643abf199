import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { json } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { configOf } from '../../src/base/store/postgres-address.ts'
import { createClient } from '../../src/base/store/postgres-client.ts'
import type { DeviceEvent } from '../../src/subjects/devices/device-event.ts'
import type { DeviceSource } from '../../src/subjects/devices/device-source.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { createRegistry, deviceMigrations } from '../../src/subjects/devices/registry.ts'
import { functionDevices } from '../../src/subjects/devices/sources/function.ts'
import { httpDevices } from '../../src/subjects/devices/sources/http.ts'
import type { DeviceRecord } from '../../src/subjects/devices/sources/rows.ts'
import { sqlDevices } from '../../src/subjects/devices/sources/sql.ts'
import { deviceSourceSuite, type KnownDevice, known } from '../suites/device-source.ts'
import { contextOf } from '../support/context.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'
import { event } from '../support/wait.ts'

const skip = await withoutPostgres()

// ── Registry ──

deviceSourceSuite({
  name: 'registry',
  async open(t, known) {
    const url = `sqlite:${join(await temporary(t), 'devices.db')}`
    const database = await openTestDatabase(t, url, { migrations: deviceMigrations })
    const registry = createRegistry({ database })
    await registry.storeEvents(
      known.map((one) => {
        const { brand, userId, token, kind, app = '', environment = '' } = one
        const common = {
          brand,
          token,
          id: deviceId(token),
          app,
          channel: 'x',
          origin: '',
          at: undefined,
          skipPublishing: false,
        }
        return {
          ...common,
          what: userId === null ? 'unlink' : 'link',
          userId: userId ?? 'x',
          kind,
          environment,
        } as DeviceEvent
      }),
    )
    return registry
  },
})

// ── Functions ──

const rowOf = ({ brand: _, userId: user_id, ...rest }: KnownDevice) => ({ user_id, ...rest })

deviceSourceSuite({
  name: 'function',
  open: async (_t, known) =>
    functionDevices(
      (brand, users) => known.filter((one) => one.brand === brand && users.includes(one.userId ?? '')).map(rowOf),
      async (brand, tokens) => known.filter((one) => one.brand === brand && tokens.includes(one.token)).map(rowOf),
    ),
})

test('an error of the function makes the look-up fail', async () => {
  const source = functionDevices(() => {
    throw new Error('the backend is unavailable')
  })
  await assert.rejects(source.findDevices('1', ['1001'], contextOf()), /the backend is unavailable/)
})

test('without holders every token is unknown', async () => {
  assert.deepEqual(await functionDevices(() => []).findHolders('1', ['t'], contextOf()), new Map())
})

test('an unreadable device is reported and skipped; a missing column is an error', async () => {
  const good = { user_id: '1001', token: 't', provider: 'firebase', linked_at: new Date('2026-01-01T10:00:00.5Z') }
  const rows: DeviceRecord[] = [good]
  const source = functionDevices(
    () => rows,
    () => rows,
  )
  assert.equal(
    (await source.findDevices('1', ['1001'], contextOf())).get('1001')?.[0]?.linkedAt,
    '2026-01-01T10:00:00.5',
  )
  for (const over of [
    { token: null },
    { token: '' },
    { provider: 'my own!' },
    { user_id: {} },
    { provider: null, kind: null },
  ]) {
    rows[1] = { ...good, token: 'secret-token', ...over }
    const unreadable = event('device.unreadable')
    const found = await source.findDevices('1', ['1001'], contextOf())
    assert.equal(found.get('1001')?.length, 1, JSON.stringify(over))
    assert.ok(!JSON.stringify(await unreadable).includes('secret-token'))
  }
  rows[1] = { ...good, token: 'odd', provider: '!' }
  assert.equal((await source.findHolders('1', ['odd'], contextOf())).get('odd'), 'nobody', 'the token is known')
  rows[1] = { user_id: 5, token: 't2', kind: 'apns', linked_at: 'yesterday' }
  assert.equal((await source.findDevices('1', ['5'], contextOf())).get('5')?.[0]?.linkedAt, '')
  for (const [row, expected] of [
    [{ id: '1001', token: 't', kind: 'apns' }, /without user_id/],
    [{ user_id: '1001', kind: 'apns' }, /without token/],
    [{ user_id: '1001', token: 't' }, /neither kind nor provider/],
    ['x', /returned a device that is not an object/],
  ] as const) {
    rows[1] = row as unknown as DeviceRecord
    await assert.rejects(source.findDevices('1', ['1001'], contextOf()), expected)
  }
})

// ── SQL ──

const create = `create table my_devices (brand text, player text, push_token text, kind text, bundle text, env text)`
const columns = 'player as user_id, push_token as token, kind, bundle as app, env as environment'
const valuesOf = ({ brand, userId, token, kind, app = '', environment = '' }: KnownDevice) => [
  brand,
  userId,
  token,
  kind,
  app,
  environment,
]

async function sqliteFile(t: TestContext, known: readonly KnownDevice[]): Promise<string> {
  const file = join(await temporary(t), 'shop.db')
  const db = new DatabaseSync(file)
  db.exec(create)
  const insert = db.prepare('insert into my_devices values (?, ?, ?, ?, ?, ?)')
  for (const one of known) insert.run(...(valuesOf(one) as string[]))
  db.close()
  return `sqlite:${file}`
}

const sqliteQueries = {
  devices: `select ${columns} from my_devices where brand = :brand and player in (select value from json_each(:users))`,
  holders: `select ${columns} from my_devices where push_token in (select value from json_each(:tokens)) and brand = :brand`,
}

deviceSourceSuite({
  name: 'sql sqlite',
  open: async (t, known) => sqlDevices({ database: await sqliteFile(t, known), ...sqliteQueries }),
})

async function postgresSchema(known: readonly KnownDevice[]): Promise<string> {
  const url = await freshSchema()
  const config = configOf(url)
  const client = createClient(config)
  await client.connect()
  try {
    await client.query(`create schema if not exists ${config.schema}`)
    await client.query(create)
    for (const one of known) await client.query('insert into my_devices values ($1, $2, $3, $4, $5, $6)', valuesOf(one))
  } finally {
    await client.end()
  }
  return url
}

const postgresQueries = {
  devices: `select ${columns} from my_devices where brand = :brand and player = any(:users)`,
  holders: `select ${columns} from my_devices where push_token = any(:tokens::varchar[]) and brand = :brand`,
}

deviceSourceSuite({
  name: 'sql postgres',
  skip,
  open: async (_t, known) => sqlDevices({ database: await postgresSchema(known), ...postgresQueries }),
})

test('an operator’s database is opened read-only (sqlite)', async (t) => {
  const database = await sqliteFile(t, known)
  assert.throws(() => sqlDevices({ database, devices: 'select * from my_devices' }), /lacks the parameter :users/)
  const source = sqlDevices({
    database,
    devices: 'delete from my_devices where player in (select value from json_each(:users)) returning *',
  })
  t.after(() => source.close?.())
  await assert.rejects(source.findDevices('1', ['1001'], contextOf()), /readonly/)
})

test('an operator’s database is opened read-only, and a slow query is ended (postgres)', { skip }, async (t) => {
  const database = await postgresSchema(known)
  const sourceOf = (devices: string, timeoutMs?: number): DeviceSource => {
    const source = sqlDevices({ database, devices, ...(timeoutMs && { timeoutMs }) })
    t.after(() => source.close?.())
    return source
  }
  const writing = sourceOf('delete from my_devices where player = any(:users) returning *')
  const sleeping = sourceOf('select pg_sleep(30), :users', 200)
  const wrong = sourceOf('select nonsense from my_devices where player = any(:users)')
  const find = async (source: DeviceSource, budgetMs?: number) => source.findDevices('1', ['1001'], contextOf(budgetMs))
  await assert.rejects(find(writing), /read-only/)
  await assert.rejects(find(sleeping), /timed out/)
  await assert.rejects(find(wrong), /nonsense/)
  await assert.rejects(find(sleeping, 20), /timed out/)
})

test('a look-up fails while the database is unavailable', { skip }, async (t) => {
  const source = sqlDevices({
    database: 'postgres://nobody:x@127.0.0.1:1/none',
    devices: 'select 1 where :users is null',
    timeoutMs: 500,
  })
  t.after(() => source.close?.())
  await assert.rejects(source.findDevices('1', ['1001'], contextOf()))
})

// ── HTTP ──

type Answer = (
  request: { brand: string; user_ids?: string[]; tokens?: string[] },
  headers: IncomingMessage['headers'],
  response: ServerResponse,
) => void

async function endpoint(t: TestContext, answer: Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    answer((await json(request)) as Parameters<Answer>[0], request.headers, response)
  })
  return (await listenLocally(t, server)).url
}

deviceSourceSuite({
  name: 'http',
  async open(t, known) {
    const url = await endpoint(t, ({ brand, user_ids, tokens }, headers, response) => {
      const found = known.filter(
        (one) => one.brand === brand && (user_ids?.includes(one.userId ?? '') || tokens?.includes(one.token)),
      )
      response.statusCode = headers.authorization === 'Bearer key' ? 200 : 401
      response.end(JSON.stringify({ devices: found.map(rowOf) }))
    })
    return httpDevices({
      url: `${url}/devices?v=1`,
      holdersUrl: `${url}/holders`,
      auth: { kind: 'bearer', token: 'key' },
    })
  },
})

test('a look-up fails if the endpoint sends an invalid answer or none', async (t) => {
  const answers: [Answer, RegExp][] = [
    [(_r, _h, response) => response.writeHead(500).end('{"devices":[]}'), /answered 500/],
    [(_r, _h, response) => response.writeHead(302, { location: '/elsewhere' }).end(), /answered 302/],
    [(_r, _h, response) => response.end('<html>'), /answer that is not JSON/],
    [(_r, _h, response) => response.end('{"error":"no"}'), /without the array devices/],
    [(_r, _h, response) => response.end('null'), /without the array devices/],
    [(_r, _h, response) => response.end('{"devices":[{"id":1}]}'), /without user_id/],
    [(_r, _h, response) => response.destroy(), /closed|reset|terminated|other side/i],
  ]
  const withoutEnd: [Answer, RegExp][] = [
    [(_r, _h, response) => void response.write('{"devices":['), /aborted|timeout|in time/i],
    [() => {}, /in time/i],
  ]
  const refuse = async (answer: Answer, expected: RegExp, timeoutMs?: number): Promise<void> => {
    const source = httpDevices({ url: await endpoint(t, answer), ...(timeoutMs && { timeoutMs }) })
    await assert.rejects(source.findDevices('1', ['1001'], contextOf()), expected)
    await source.close?.()
  }
  for (const [answer, expected] of answers) await refuse(answer, expected)
  for (const [answer, expected] of withoutEnd) await refuse(answer, expected, 300)
  assert.deepEqual(await httpDevices({ url: 'http://127.0.0.1:1' }).findHolders('1', ['t'], contextOf()), new Map())
})

test('the signal ends a look-up that is not answered', async (t) => {
  const source = httpDevices({ url: await endpoint(t, () => {}) })
  t.after(() => source.close?.())
  const stopping = new AbortController()
  const lookUp = source.findDevices('1', ['1001'], { ...contextOf(), signal: stopping.signal })
  stopping.abort()
  await assert.rejects(lookUp)
})
