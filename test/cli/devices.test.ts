// `bellwire devices` against a running operator.

import assert from 'node:assert/strict'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import type { Registry } from '../../src/subjects/devices/registry.ts'
import type { ImportSummary } from '../../src/tools/cli/devices/import.ts'
import { get, startOperator, temporary } from '../support/sides.ts'
import { type Run, run } from './bellwire.ts'

const key = 'backend-key-0000000001'
const adminKeys = [{ name: 'backend', key, scopes: ['devices', 'counts', 'read', 'decide', 'attributes'] }] as const
const reader = { name: 'reader', key: 'reader-key-000000000001', scopes: ['counts', 'read'] } as const
const lookUp = { deadline: Date.now() + 120_000, signal: new AbortController().signal }

interface Bench {
  readonly url: string
  readonly devices: Registry
  readonly folder: string
  bellwire(...args: string[]): Promise<Run>
}

async function setUp(t: TestContext): Promise<Bench> {
  const { url, devices } = await startOperator(t, { adminKeys: [...adminKeys, reader] })
  const env = { BELLWIRE_URL: url, BELLWIRE_KEY: key }
  return { url, devices, folder: await temporary(t), bellwire: (...args) => run(['devices', ...args], env) }
}

/** Writes a file with a known modification time. */
async function write(folder: string, name: string, text: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, text)
  await utimes(file, new Date('2026-01-31T03:00:00Z'), new Date('2026-01-31T03:00:00Z'))
  return file
}

const countsOf = ({ records, tokens, linked, moved, unchanged, refused }: ImportSummary) => [
  records,
  tokens,
  linked,
  moved,
  unchanged,
  refused,
]
const usersOf = async (devices: Registry, brand: string, users: string[]): Promise<string[]> =>
  [...(await devices.findDevices(brand, users, lookUp)).keys()].sort()

test('a CSV file of tokens is imported into the given brand; a second import changes nothing', async (t) => {
  const { bellwire, devices, folder } = await setUp(t)
  const rows = Array.from({ length: 2_500 }, (_, i) => `u${i},"token,${i}","com ""example"""`)
  const file = await write(folder, 'tokens.csv', `\ufeffuser_id,token,app\r\n${rows.join('\r\n')}\r\n`)
  const args = ['import', '--file', file, '--brand', '2', '--provider', 'firebase', '--json']
  const first = await bellwire(...args)
  assert.equal(first.code, 0, first.err)
  assert.deepEqual(countsOf(JSON.parse(first.out)), [2_500, 2_500, 2_500, 0, 0, 0])
  const [device] = (await devices.findDevices('2', ['u7'], lookUp)).get('u7') ?? []
  assert.deepEqual(device, {
    brand: '2',
    userId: 'u7',
    kind: 'fcm_token',
    token: 'token,7',
    id: deviceId('token,7'),
    app: 'com "example"',
    linkedAt: '2026-01-31T03:00:00',
  })
  assert.deepEqual(await usersOf(devices, '1', ['u7']), [])
  const second = await bellwire(...args)
  assert.deepEqual(countsOf(JSON.parse(second.out)), [2_500, 2_500, 0, 0, 2_500, 0])
})

test('a user who has logged out stays logged out when the same file is imported again', async (t) => {
  const { bellwire, url, devices, folder } = await setUp(t)
  const file = await write(
    folder,
    'tokens.ndjson',
    '{"user_id":"a","token":"t1","kind":"apns"}\n{"user_id":"b","token":"t2","provider":"apns"}\n',
  )
  assert.equal((await bellwire('import', '--file', file, '--brand', '1')).code, 0)
  const body = JSON.stringify({ brand: '1', user_id: 'a', tokens: [{ token: 't1', provider: 'apns' }] })
  await fetch(`${url}/admin/devices/unlink`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body,
  })
  const { code, out } = await bellwire('import', '--file', file, '--brand', '1')
  assert.equal(code, 0)
  assert.match(out, /2 records, 2 tokens/)
  assert.match(out, /unchanged +2/)
  assert.deepEqual(await usersOf(devices, '1', ['a', 'b']), ['b'])
})

test('records of row 18 are imported with their own time and brand', async (t) => {
  const { bellwire, url, folder } = await setUp(t)
  const record = (brand: number) =>
    JSON.stringify({
      brand,
      user_id: '1001',
      timestamp: '2025-05-05T5:05:05.5Z',
      origin: 'shop',
      tokens: [
        { token: 't1', provider: 'firebase', channel: 'android' },
        { token: 't2', provider: 'http:own' },
      ],
    })
  const file = await write(folder, 'tokens.txt', `${record(1)}\n${record(2)}`)
  const { code, out } = await bellwire('import', '--file', file, '--json')
  assert.equal(code, 0)
  assert.deepEqual(countsOf(JSON.parse(out)), [2, 4, 4, 0, 0, 0])
  const [device] = (await get(`${url}/admin/devices?brand=2&user_id=1001`, key)).body.devices
  assert.partialDeepStrictEqual(device, { linked_at: '2025-05-05T05:05:05.5Z', origin: 'shop' })
})

test('invalid lines are reported with their line number, and the others are imported', async (t) => {
  const { bellwire, devices, folder } = await setUp(t)
  const valid = (i: number) => `{"user_id":"u${i}","token":"t${i}","kind":"fcm_token"}`
  const lines = [
    ...Array.from({ length: 1_200 }, (_, i) => valid(i)),
    '{"user_id":"x","token":"secret-token"',
    '',
    '{"user_id":5,"token":"secret-token","kind":"apns"}',
    '{"user_id":"x","token":"secret-token","brand":9,"kind":"apns"}',
    '{"user_id":"x","token":"secret-token"}',
    valid(2_000),
  ]
  const file = await write(folder, 'tokens.ndjson', lines.join('\n'))
  const { code, out, err } = await bellwire('import', '--file', file, '--brand', '1', '--json')
  assert.equal(code, 1)
  const summary = JSON.parse(out) as ImportSummary
  assert.deepEqual(countsOf(summary), [1_205, 1_201, 1_201, 0, 0, 4])
  assert.deepEqual(
    summary.refused_lines.map(({ line }) => line),
    [1_201, 1_203, 1_204, 1_205],
  )
  assert.ok(!`${out}${err}`.includes('secret-token'))
  assert.deepEqual(await usersOf(devices, '1', ['u0', 'u2000', 'x']), ['u0', 'u2000'])

  const csv = await write(folder, 'odd.csv', 'user_id,token,provider\na,t,apns\nb,,apns\n,t,apns\nc,t3,!\n')
  const odd = await bellwire('import', '--file', csv, '--brand', '1', '--json')
  assert.equal(odd.code, 1)
  assert.deepEqual(
    (JSON.parse(odd.out) as ImportSummary).refused_lines.map(({ line }) => line),
    [3, 4, 5],
  )
  const text = await bellwire('import', '--file', csv, '--brand', '1')
  assert.match(text.out, /line 5: tokens\[0\]\.provider is not known/)
})

test('an import that cannot start is refused with a remedy', async (t) => {
  const { bellwire, url, folder } = await setUp(t)
  const file = await write(folder, 'tokens.ndjson', '{"user_id":"a","token":"t1","kind":"apns"}\n')
  const broken = await write(folder, 'broken.csv', 'user_id,token\na,"t1\n')
  for (const [args, message] of [
    [['import', '--file', join(folder, 'none.csv')], /none\.csv cannot be read/],
    [['import', '--file', folder], /is a folder/],
    [['import', '--file', '-'], /--as-of/],
    [['import', '--file', broken, '--brand', '1'], /not valid CSV/],
    [['import'], /--file/],
    [
      ['import', '--file', file, '--brand', '1', '--key', 'wrong-key-000000000001'],
      /operator\.admin_keys with the scope devices/,
    ],
    [['import', '--file', file, '--brand', '1', '--key', reader.key], /lacks the scope devices/],
    [
      ['import', '--file', file, '--brand', '1', '--url', `${url}/elsewhere`],
      /Check that --url is the address of \/admin of the operator: that of operator\.admin, if it is set/,
    ],
    [['import', '--file', file, '--url', 'ftp://x'], /not an http or https address/],
    [['list', '--brand', '1'], /--user/],
  ] as const) {
    const { code, err } = await bellwire(...args)
    assert.equal(code, 2, err)
    assert.match(err, message)
  }
})

test('the key can be read from a file, so that ps does not show it', async (t) => {
  const { url } = await startOperator(t, { adminKeys })
  const folder = await temporary(t)
  const args = ['devices', 'list', '--brand', '1', '--user', 'a', '--url', url]
  const file = await write(folder, 'key', `${key}\n`)
  const listed = await run([...args, '--key-file', file])
  assert.deepEqual([listed.code, listed.out], [0, 'no devices\n'], listed.err)
  const overridden = await run([...args, '--key-file', file], { BELLWIRE_KEY: 'some-other-key-0000001' })
  assert.equal(overridden.code, 0, 'the command line overrides the environment')
  const help = (await run(['devices', 'list', '--help'])).out.replace(/\s+/g, ' ')
  assert.match(
    help,
    /ps shows it to all users of this machine: prefer --key-file or the variable \(env: BELLWIRE_KEY\)/,
  )
  for (const [name, message] of [
    ['missing', /--key-file cannot be read: ENOENT.*missing/],
    ['empty', /empty is empty: write the key into it/],
    ['placeholder', /the key has a space or a character outside ASCII/],
  ] as const) {
    if (name !== 'missing') await write(folder, name, name === 'empty' ? '\n' : '…')
    const { code, err } = await run([...args, '--key-file', join(folder, name)])
    assert.equal(code, 2)
    assert.match(err, message)
  }
})

test('listing devices or removals does not wait long for an unreachable operator', async () => {
  const env = { BELLWIRE_URL: 'http://127.0.0.1:1', BELLWIRE_KEY: key }
  for (const args of [
    ['devices', 'list', '--brand', '1', '--user', 'a'],
    ['removals', 'list'],
  ]) {
    const { code, err } = await run([...args, '--patience', '100ms'], env)
    assert.equal(code, 3, err)
    assert.match(err, /has not answered for 0\.1 s \(ECONNREFUSED\)\. Check that the operator is running/)
    assert.match((await run([...args.slice(0, 2), '--help'])).out, /--patience <time> .*\(default: *10s\)/s)
  }
})

test('devices are listed, and removed devices are restored', async (t) => {
  const { bellwire, devices, folder } = await setUp(t)
  const rows = ['a', 'b', 'c'].map((user) => `${user},token-of-${user},1\n${user},token-of-${user},2\n`)
  const file = await write(folder, 'tokens.csv', `user_id,token,brand\n${rows.join('')}`)
  assert.equal((await bellwire('import', '--file', file, '--provider', 'fcm')).code, 0)
  const listed = await bellwire('list', '--brand', '1', '--user', 'a')
  assert.match(listed.out, /^2026-01-31T03:00:00Z {2}fcm_token {2}to… {2}from import\n$/)
  assert.match((await bellwire('list', '--brand', '1', '--user', 'none')).out, /no devices/)
  await devices.remove([...(await devices.findDevices('1', ['a', 'b', 'c'], lookUp)).values()].flat(), 'wrong project')

  const removed = await bellwire('removed', '--brand', '1', '--why', 'wrong project')
  assert.equal(removed.out.trim().split('\n').length, 3)
  assert.match(removed.out, /fcm_token {2}wrong project {2}can be restored/)
  assert.equal((await bellwire('removed', '--brand', '2')).out, '')
  assert.match((await bellwire('restore', '--brand', '1', '--user', 'b')).out, /^Linked 1 device again/)
  const unfiltered = await bellwire('restore', '--brand', '1')
  assert.deepEqual([unfiltered.code, /--user, .*or all devices with --all/.test(unfiltered.err)], [2, true])
  assert.deepEqual(JSON.parse((await bellwire('restore', '--brand', '1', '--all', '--json')).out), { restored: 2 })
  assert.deepEqual(await usersOf(devices, '1', ['a', 'b', 'c']), ['a', 'b', 'c'])
  assert.match((await bellwire('removed', '--brand', '1')).out, /restored 2/)
  const { code, err } = await bellwire('restore')
  assert.equal(code, 2)
  assert.match(err, /--brand/)
})

test('an import of tokens with two columns of one name, or of an empty file, exits with 2', async (t) => {
  const { bellwire, devices, folder } = await setUp(t)
  const runImport = async (name: string, text: string) =>
    bellwire('import', '--file', await write(folder, name, text), '--brand', '1', '--provider', 'firebase')
  const twice = await runImport('twice.csv', 'user_id,token,user_id\na,t1,b\n')
  assert.equal(twice.code, 2, twice.out)
  assert.match(twice.err, /two columns are named user_id/)
  assert.deepEqual(await usersOf(devices, '1', ['a', 'b']), [])
  for (const name of ['empty.csv', 'empty.ndjson']) {
    const empty = await runImport(name, '')
    assert.equal(empty.code, 2, empty.out)
    assert.match(empty.err, /the file is empty: nothing was imported/)
  }
})
