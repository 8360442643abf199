import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresStore, type Store } from '../../bench/harness/stores.ts'
import { sendPaths } from '../../src/contract/endpoints.ts'
import {
  type BeforeAndAfter,
  copyRows,
  filesOfPostgres,
  logOfPostgres,
  overwriteLogOfPostgres,
  type Row,
  searchFile,
  vacuum,
  vacuumPostgres,
} from '../harness/before-and-after.ts'
import { admin, enqueue, waitUntilSettled } from '../harness/http.ts'
import type { Process } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { createSetup, type ProofSetup } from '../harness/setup.ts'
import { apiKeys } from '../plans.ts'

/** The id, each text and each token of a person contains the person's number between these. */
const kinds = ['pid', 'txt', 'tok'] as const
const marks = new RegExp(`(?:${kinds.join('|')})(\\d{7})x`, 'g')
const mark = (kind: (typeof kinds)[number], person: number): string => `${kind}${String(person).padStart(7, '0')}x`
const peopleIn = (text: string): number[] => [...text.matchAll(marks)].map(([, person]) => Number(person))

/** People who get messages only while others are erased. */
const firstOfLoad = 5_000_000
const perRequest = 2_000

interface Sizes {
  readonly messages: number
  readonly people: number
  readonly erased: number
  /** The new messages in each request beside the erasures, and the rest between two requests. */
  readonly beside: number
  readonly restMs: number
}
const sizeOf = (small: boolean): Sizes =>
  small
    ? { messages: 2_000, people: 200, erased: 5, beside: 4, restMs: 50 }
    : { messages: 1_000_000, people: 100_000, erased: 1_000, beside: 20, restMs: 0 }

const erase = (name: string, stores: () => Promise<readonly Store[]>, needs: Pick<Proof, 'needs'> = {}): Proof => ({
  name,
  claims:
    'among 1,000,000 messages of 100,000 people, 1,000 people are erased under load: no row has a text, token or id of them, nor, after VACUUM (PostgreSQL: VACUUM FULL, and as much new log as there are segments), any file of the stores, and all other data is unchanged, except the answers of shared calls',
  ...needs,
  boundSeconds: { small: 240, full: 7_200 },
  async run(options, signal) {
    const opened = await stores()
    try {
      return await prove(options, opened, signal)
    } finally {
      for (const store of opened) await store.remove()
    }
  },
})

export const eraseProofs: readonly Proof[] = [
  erase('erase', async () => []),
  erase('erase-postgres', () => Promise.all([postgresStore(), postgresStore()]), { needs: ['postgres'] }),
]

async function prove({ small, folder, print }: ProofOptions, stores: readonly Store[], signal: AbortSignal) {
  const sizes = sizeOf(small)
  const [operatorStore, platformStore] = ['operator', 'platform'].map(
    (side, i) => stores[i]?.url ?? `sqlite:${join(folder, 'stores', `${side}.db`)}`,
  ) as [string, string]
  const setup = await createSetup({
    folder,
    operatorStore,
    platformStore,
    log: join(folder, 'log'),
    operator: { people: true },
    lane: { max: 100, spanMs: 20, concurrency: 8 },
  })
  const erased = new Set(Array.from({ length: sizes.erased }, (_, i) => i * (sizes.people / sizes.erased)))

  let stop = await start(setup)
  await fill(setup, sizes, erased, signal)
  await stop()
  print(`${sizes.messages.toLocaleString('en')} messages of ${sizes.people.toLocaleString('en')} people are stored`)
  const copies = [await copyRows(operatorStore), await copyRows(platformStore)]

  stop = await start(setup)
  const began = performance.now()
  const load = await eraseUnderLoad(setup, erased, sizes, signal)
  const eraseSeconds = Math.round((performance.now() - began) / 100) / 10
  print(`${erased.size.toLocaleString('en')} people were erased in ${eraseSeconds} s, beside ${load} new messages`)
  await waitUntilSettled(setup.platformUrl, signal)
  await stop()

  const found = { files: 0, tables: 0, rows: 0 }
  for (const openBoth of copies) {
    const both = await openBoth()
    try {
      await assertGone(both, erased, sizes)
      found.rows += await assertOthersUnchanged(both, erased)
      found.tables += both.tables.length
    } finally {
      await both.close()
    }
  }
  const log = join(folder, 'log')
  const readFiles = async (): Promise<readonly string[]> =>
    stores.length > 0
      ? [log, ...(await Promise.all(stores.map(({ url }) => filesOfPostgres(url)))).flat()]
      : [log, ...filesIn(join(folder, 'stores'))]
  const files = await readFiles()
  const remnants = await findRemnants(files, erased)
  // When SQLite divides a page, bytes of a moved row may stay in its free space: seen for ids, not for texts. PostgreSQL overwrites
  // no free space.
  if (stores.length === 0)
    assert.deepEqual(
      remnants.filter((text) => !text.startsWith('pid')),
      [],
    )
  for (const file of files.filter((each) => each.endsWith('.db'))) vacuum(file)
  for (const { url } of stores) await vacuumPostgres(url)
  const written = await readFiles()
  assert.deepEqual(await findRemnants(written, erased), [])
  found.files = written.length
  // The log of the tests' server is large: only the full size writes as much again.
  const [first] = small ? [] : stores
  const inLog = first ? await findRemnants(await logOfPostgres(first.url), erased) : []
  if (first) {
    await overwriteLogOfPostgres(first.url)
    assert.deepEqual(await findRemnants(await logOfPostgres(first.url), erased), [])
  }
  return {
    ...sizes,
    load,
    ...found,
    before_vacuum: remnants.length,
    in_log: inLog.length,
    erase_seconds: eraseSeconds,
  } satisfies Figures
}

/** @returns the marks of the erased people in the bytes of the files */
async function findRemnants(files: readonly string[], erased: Erased): Promise<readonly string[]> {
  const remnants: string[] = []
  for (const file of files)
    await searchFile(file, marks, ([text, person]) => {
      if (erased.has(Number(person))) remnants.push(text)
    })
  return remnants
}

/** @returns stops both sides */
async function start(setup: ProofSetup): Promise<() => Promise<void>> {
  const sides: readonly Process[] = [setup.operator(), setup.platform()]
  await Promise.all(sides.map(({ ready }) => ready))
  return async () => {
    for (const side of sides) side.signal('SIGTERM')
    await Promise.all(sides.map(({ ended }) => ended))
  }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((each) => (each.isFile() ? [join(folder, each.name)] : []))

/** The number of a message is its activity.id. */
function record(id: number, person: number): string {
  const activity = `{"id":${id},"brand_id":1,"user_id":"${mark('pid', person)}","activity_id":7,"action_id":9,"trigger_hash":"h"}`
  const text = mark('txt', person)
  return `{"activity":${activity},"title":"For ${text}","body":"${text} has a message","meta":{"name":"${text}"}}`
}

/** Each person has messages in several requests, on both channels. Some people have devices and attributes too. */
async function fill({ platformUrl, operatorUrls }: ProofSetup, sizes: Sizes, erased: Erased, signal: AbortSignal) {
  const { messages, people } = sizes
  for (let from = 0; from < messages; from += perRequest) {
    const lines = Array.from({ length: perRequest }, (_, i) => `${record(from + i, (from + i) % people)}\n`)
    await enqueue(platformUrl, Math.floor(from / people) % 10 === 9 ? 'site' : 'push', lines.join(''))
    signal.throwIfAborted()
  }
  await waitUntilSettled(platformUrl, signal)
  const operator = operatorUrls[0] as string
  for (const one of erased)
    for (const person of [one, one + 1]) {
      const tokens = [{ token: mark('tok', person), provider: 'firebase', channel: 'android' }]
      await admin(operator, '/admin/devices/link', { brand: 1, user_id: mark('pid', person), tokens })
      await admin(platformUrl, `/admin/attributes/1/${mark('pid', person)}`, { active: true })
      // Looks at the person, which the audit trail keeps.
      const user = `brand=1&user_id=${mark('pid', person)}`
      for (const path of [`people/1/${mark('pid', person)}`, `messages?${user}`, `devices?${user}`])
        await admin(operator, `/admin/${path}`)
      // A refused item, and a repetition beside a new message: their texts must not be stored.
      await sendBatch(operator, [record(-1, person), record(person, person), record(messages + person, person)])
    }
}

async function sendBatch(operator: string, records: readonly string[]): Promise<void> {
  const response = await fetch(new URL(sendPaths.push.batch, operator), {
    method: 'POST',
    headers: { 'x-api-key': apiKeys['1'] as string, 'content-type': 'application/json' },
    body: `[${records.join()}]`,
  })
  assert.equal(response.status, 200, await response.text())
}

/** @returns the number of messages that were enqueued meanwhile */
async function eraseUnderLoad(setup: ProofSetup, erased: Erased, sizes: Sizes, signal: AbortSignal): Promise<number> {
  const { platformUrl, operatorUrls } = setup
  const { people, beside, restMs } = sizes
  let load = 0
  const addLoad = async (): Promise<void> => {
    const ids = Array.from({ length: beside }, () => load++)
    const lines = ids.map((id) => `${record(1e9 + id, firstOfLoad + (id % people))}\n`)
    await enqueue(platformUrl, 'push', lines.join(''))
  }
  const running: { readonly url: string; readonly id: string }[] = []
  for (const person of erased) {
    signal.throwIfAborted()
    const user = { brand: 1, user_id: mark('pid', person) }
    const requests = [operatorUrls[0] as string, platformUrl].map(async (url) => {
      const { id } = await admin<{ id: string }>(url, '/admin/people/erase', user)
      running.push({ url, id })
    })
    await Promise.all([...requests, addLoad()])
  }
  for (const { url, id } of running)
    while ((await admin<{ state: string }>(url, `/admin/people/erasures/${id}`)).state !== 'done') {
      signal.throwIfAborted()
      await addLoad()
      await sleep(restMs)
    }
  return load
}

type Erased = ReadonlySet<number>

/** No row has a mark of an erased person. */
async function assertGone(both: BeforeAndAfter, erased: Erased, { people }: Sizes): Promise<void> {
  const seen = new Set<number>()
  for (const table of both.tables)
    for await (const row of both.query(`select * from after.${table}`))
      for (const person of peopleIn(JSON.stringify(row))) {
        assert.ok(!erased.has(person), `${table} has a row of the erased person ${person}: ${JSON.stringify(row)}`)
        seen.add(person)
      }
  const others = [...seen].filter((person) => person < firstOfLoad)
  assert.equal(others.length, people - erased.size, 'all others are found by the same search')
}

/** Tables without data of people: they change with every message. */
const technical = /^(sqlite_sequence|message_counts|outcome_counts|lane_counts)$/

/** Without the answer and the error, which are erased for all messages of a call. */
const ofCalls = 'id, provider, at, ms, messages, rule'

/** @returns the number of compared rows */
async function assertOthersUnchanged(both: BeforeAndAfter, erased: Erased): Promise<number> {
  let rows = 0
  for (const table of both.tables) {
    for await (const { n } of both.query(`select count(*) as n from before.${table}`)) rows += Number(n)
    const columns = table === 'calls' ? ofCalls : '*'
    const removed = both.query(`select ${columns} from before.${table} except select ${columns} from after.${table}`)
    if (table === 'requests') await assertOnlySlicesErased(both, removed, erased)
    else if (!technical.test(table)) for await (const row of removed) assertIsOf(erased, table, row)
  }
  return rows
}

function assertIsOf(erased: Erased, table: string, row: Row): void {
  const text = JSON.stringify(row)
  const people = peopleIn(text)
  assert.ok(people.length > 0 && people.every((person) => erased.has(person)), `${table} changed: ${text}`)
}

/** Of the changed requests, only the texts of the erased people are overwritten, with spaces. */
async function assertOnlySlicesErased(both: BeforeAndAfter, removed: AsyncIterable<Row>, erased: Erased) {
  const expected = new Map<string, string>()
  for await (const { id, text } of removed) expected.set(String(id), String(text))
  const users = [...erased].map((person) => `'${mark('pid', person)}'`).join()
  const slices = both.query(
    `select request, start_at, length from before.messages where user_id in (${users}) and length > 0`,
  )
  for await (const { request, start_at, length } of slices) {
    const [id, start, end] = [String(request), Number(start_at), Number(start_at) + Number(length)]
    const text = expected.get(id) ?? ''
    expected.set(id, text.slice(0, start) + ' '.repeat(end - start) + text.slice(end))
  }
  for await (const { id, text } of both.query('select id, text from after.requests')) {
    const were = expected.get(String(id))
    if (were !== undefined) assert.ok(text === were, `the texts of others in the request ${id} changed`)
    expected.delete(String(id))
  }
  assert.deepEqual([...expected.keys()], [], 'requests that are gone')
}
