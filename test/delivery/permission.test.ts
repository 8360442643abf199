// The proof of permission: the check that decided about a message is in its row, committed with its outcome.

import assert from 'node:assert/strict'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createFairSemaphore } from '../../src/base/runtime/fair-semaphore.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Database } from '../../src/base/store/database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { refuseFatal } from '../../src/contract/refusals.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import type { AttributeSource, Field } from '../../src/subjects/attributes/attribute-source.ts'
import { combine } from '../../src/subjects/attributes/combine.ts'
import { fileSource } from '../../src/subjects/attributes/file.ts'
import { sqlSource } from '../../src/subjects/attributes/sql.ts'
import type { Delivery } from '../../src/subjects/delivery/delivery.ts'
import { findByRef } from '../../src/subjects/delivery/messages.ts'
import { type Basis, readBases } from '../../src/subjects/delivery/permission.ts'
import { createSuppression, type SuppressionOptions } from '../../src/subjects/delivery/suppress.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { message } from '../suites/provider.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { createPlayers } from '../support/players.ts'
import { pathTo } from '../support/send-path.ts'
import { temporary, witness } from '../support/sides.ts'

const neverAborted = new AbortController().signal
const fields: readonly Field[] = ['blocked', 'excluded', 'consent_push_notification']
const dataAt = Date.parse('2026-01-31T10:00:00Z')

/** A user whose name lists the fields that are true. The user `unknown` cannot be looked up. */
const players: AttributeSource = {
  name: 'players',
  fields,
  async among(_brand, users, wanted, { noteAsOf }) {
    if (users.includes('unknown')) throw new Error('away')
    noteAsOf?.(dataAt)
    return new Map(wanted.map((field) => [field, new Set(users.filter((user) => user.split(' ').includes(field)))]))
  },
}

const checkBy = (source: AttributeSource, options?: SuppressionOptions) =>
  createSuppression(source, neverAborted, options).checkMessage

const open = (t: TestContext, store: string): Promise<Database> =>
  openTestDatabase(t, store, { migrations: operatorMigrations })

let lastId = 0
function messageTo(userId: string, activityId = '7'): Message {
  const id = String(++lastId)
  const key = messageKey('push', { id, userId, activityId, actionId: null, triggerHash: 'hash' })
  return message(lastId, { id, userId, key, ref: uuidv7() })
}

interface Proof extends Basis {
  readonly state: string
  readonly readAt: number | null
  readonly asOf: number | null
}

async function proofOf(database: Database, { ref }: Message): Promise<Proof | string> {
  const row = await findByRef(database, ['1'], ref)
  assert.ok(row)
  if (row.permission === null) return `${row.state}, not checked`
  const basis = (await readBases(database, [row.permission])).get(row.permission) as Basis
  return { ...basis, state: row.state, readAt: row.permission_read_at, asOf: row.permission_as_of }
}

const deadline = () => ({ deadline: Date.now() + 20_000 })

onEachEngine(
  'each message, sent or refused, has the values that were checked, their source and times, and what decided',
  async (t, store) => {
    const database = await open(t, store)
    const from = Date.now()
    const check = checkBy(players, {
      exempt: { activities: ['login'] },
      rule: ({ userId }) => (userId.includes('resting') ? 'the user takes a break' : undefined),
    })
    const consent = 'consent_push_notification'
    const cases: [Message, Partial<Proof>][] = [
      [messageTo(consent), { state: 'successful', decided: 'suppression.module allows it' }],
      [messageTo(`second ${consent}`), { state: 'successful', decided: 'suppression.module allows it' }],
      [messageTo(`excluded ${consent}`), { state: 'failed', decided: 'excluded' }],
      [messageTo('blocked'), { state: 'failed', decided: 'blocked' }],
      [messageTo('nobody'), { state: 'failed', decided: consent }],
      [messageTo(`resting ${consent}`), { state: 'failed', decided: 'suppression.module refuses it' }],
      [messageTo('nobody', 'login'), { state: 'successful', decided: 'suppression.module allows it', exempt: true }],
    ]
    const sent = cases.map(([each]) => each)
    await pathTo(database, witness(), check).send(sent, deadline())
    for (const [each, expected] of cases) {
      const { exempt = false, ...rest } = expected
      const asked = fields.filter((field) => !exempt || field !== consent)
      const values = Object.fromEntries(asked.map((field) => [field, each.userId.split(' ').includes(field)]))
      const proof = { ...rest, exempt, fields: values, source: 'players', asOf: dataAt }
      assert.deepEqual(await timelessProofOf(each), proof, each.userId)
    }
    const unknown = messageTo('unknown')
    await pathTo(database, witness(), check).send([unknown], deadline())
    const basis = { fields: {}, exempt: false, source: 'players', decided: 'the source cannot answer' }
    assert.deepEqual(await timelessProofOf(unknown), { ...basis, state: 'fatal', asOf: null })

    async function timelessProofOf(sent: Message) {
      const proof = await proofOf(database, sent)
      assert.ok(typeof proof === 'object')
      const { readAt, ...rest } = proof
      assert.ok(readAt !== null && readAt >= from && readAt <= Date.now())
      return rest
    }
  },
)

onEachEngine('equal bases are stored once, by two processes too', async (t, store) => {
  const databases = [await open(t, store), ...(store.startsWith('sqlite') ? [] : [await open(t, store)])]
  for (const database of [...databases, ...databases])
    await pathTo(database, witness(), checkBy(players)).send([messageTo('nobody'), messageTo('blocked')], deadline())
  const select = statement<{ n: number }>('count_bases', {})`select count(*) as n from permissions`
  assert.deepEqual(await databases[0]?.read(op(select, [[]])), [{ n: 2 }])
})

/** A delivery to two devices: the push to the second one waits, and suppression is asked again. */
const toTwoDevices = (reports: readonly Result[]): Delivery => ({
  name: 'two devices',
  max: 1,
  slots: createFairSemaphore(1, 10),
  transactional: false,
  findPauses: () => undefined,
  states: () => [],
  async deliver([sent], { checkMessage }) {
    const refusal = await checkMessage(sent as Message)
    const result = reports.length === 1 ? reports[0] : undefined
    return [result ?? refusal ?? { category: 'successful', rule: 'both' }] as Result[]
  },
  check: async () => [],
  close: async () => {},
})

/** Suppression that allows the first check, and refuses the second. */
function excludedMeanwhile() {
  let asked = 0
  return checkBy({
    name: 'changing',
    fields: ['excluded'],
    among: async (_brand, users) => new Map([['excluded', new Set(asked++ === 0 ? [] : users)]]),
  })
}

onSqlite(
  'a message that waited has the last check; one that was sent before has the check that allowed it',
  async (t, store) => {
    const database = await open(t, store)
    const uncertain = { ...refuseFatal('timed_out', { by: 'fcm', error: 'no answer' }), uncertain: true }
    for (const [reports, state, decided] of [
      [[], 'failed', 'excluded'],
      [[{ category: 'successful', ref: 'x', rule: '1 of 2 devices' }], 'successful', 'nothing forbids it'],
      [[uncertain], 'fatal', 'nothing forbids it'],
    ] as const) {
      const sent = messageTo('1001')
      await pathTo(database, toTwoDevices(reports as readonly Result[]), excludedMeanwhile()).send([sent], deadline())
      const proof = await proofOf(database, sent)
      assert.ok(typeof proof === 'object')
      assert.deepEqual([proof.state, proof.decided], [state, decided])
    }
  },
)

onSqlite('an attempt that ends before the check keeps the check of the attempt before', async (t, store) => {
  const database = await open(t, store)
  const sent = messageTo('nobody')
  const check = checkBy({ ...players, fields: ['excluded'] })
  const away = witness(() => refuseFatal('timed_out', { by: 'fcm', error: 'no answer' }))
  await pathTo(database, away, check).send([sent], deadline())
  const before = await proofOf(database, sent)
  assert.ok(typeof before === 'object')
  await pathTo(database, witness()).send([{ ...sent, ref: uuidv7() }], deadline())
  assert.deepEqual(await proofOf(database, sent), { ...before, state: 'successful' })
  const unchecked = messageTo('nobody')
  await pathTo(database, witness()).send([unchecked], deadline())
  assert.equal(await proofOf(database, unchecked), 'successful, not checked')
})

async function asOfIn(source: AttributeSource, brand = '1'): Promise<number[]> {
  const noted: number[] = []
  const look = { deadline: Date.now() + 10_000, signal: neverAborted, noteAsOf: (at: number) => void noted.push(at) }
  await source.among(brand, ['1001'], ['excluded'], look)
  return noted
}

test('the data of a file are of the time of its last change', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  await writeFile(path, 'user_id,excluded\n1001,true\n')
  const source = await fileSource(path, { brand: '1' })
  assert.deepEqual(await asOfIn(source), [Number((await stat(path, { bigint: true })).mtimeMs)])
  assert.deepEqual(await asOfIn(combine([{ source, brands: ['1'] }])), [
    Number((await stat(path, { bigint: true })).mtimeMs),
  ])
})

onPostgres(
  'the data of a database are of the time of its query as_of, from the snapshot of the look-up, or of its clock',
  async (t, store) => {
    const database = await createPlayers(store)
    await database.add('1001')
    const queries = { excluded: 'select user_id from players where brand = :brand and excluded = 1' }
    const dated = sqlSource({ database: store, queries, asOf: "select timestamptz '2026-01-31T10:00:00Z'" })
    const live = sqlSource({ database: store, queries })
    t.after(() => Promise.all([dated.close?.(), live.close?.()]))
    assert.deepEqual(await asOfIn(dated), [dataAt])
    const [at] = await asOfIn(live)
    assert.ok(at !== undefined && Math.abs(at - Date.now()) < 60_000, `${at}`)
  },
)
