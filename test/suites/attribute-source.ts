// The requirements for every attribute source. Run by test/attributes/sources.test.ts.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AttributeSource, type Field, fieldsOf } from '../../src/subjects/attributes/attribute-source.ts'
import { jsonOf } from '../../src/subjects/attributes/id-chunks.ts'
import { contextOf } from '../support/context.ts'

export interface Person {
  readonly brand: string
  readonly user: string
  readonly blocked?: boolean
  readonly excluded?: boolean
}

export interface SourceFixture {
  readonly name: string
  readonly skip?: string | false
  /** The source reads from another process, so a look-up can be aborted. */
  readonly outside?: true
  /** Opens a source that has the fields blocked and excluded for these people. */
  readonly open: (t: TestContext, people: readonly Person[]) => Promise<AttributeSource>
  /** Whether the source can store a user id. Default: every id. */
  readonly canStore?: (user: string) => boolean
}

/** User ids that are easily damaged by escaping, trimming or conversion to numbers. */
const hardIds = [
  '1001',
  '0123',
  '9223372036854775807',
  'with "quotes" and \\backslashes\\',
  'tab\tline\nreturn\rbell\u0007delete\u007fescape\u001b',
  'backspace\bform\ffeed\u000bvertical',
  '\\N',
  '\\.',
  'Zoë 李雷 🎉 \u2028',
  "it's",
  ' spaces ',
  ',","',
  'x'.repeat(10_000),
  '"'.repeat(10_000),
  '\u0000nul',
]

/** Reads a complete list as a reconciliation answer contains it. */
export async function readList(
  source: AttributeSource,
  brand: string,
  field: Field,
): Promise<{ users: string[]; timestamp: string }> {
  assert.ok(source.all, 'the source can list users')
  const { timestamp, chunks } = await source.all(brand, field, { signal: new AbortController().signal })
  const parts: Uint8Array[] = []
  let count = 0
  for await (const chunk of chunks) {
    const json = jsonOf(chunk)
    JSON.parse(`[${Buffer.from(json.json).subarray(1)}]`) // each chunk ends after a complete id
    parts.push(Buffer.from(json.json)) // copied, because the next chunk overwrites the bytes
    count += json.count
  }
  const users = JSON.parse(`[${Buffer.concat(parts).subarray(1)}]`) as string[]
  assert.equal(users.length, count)
  return { users, timestamp }
}

export function attributeSourceSuite({
  name,
  skip = false,
  outside,
  open,
  canStore = () => true,
}: SourceFixture): void {
  const check = (title: string, run: (t: TestContext) => Promise<void>): void =>
    void test(`${name}: ${title}`, { skip, timeout: 60_000 }, run)
  const openSource = async (t: TestContext, people: readonly Person[]): Promise<AttributeSource> => {
    const source = await open(t, people)
    t.after(() => source.close?.())
    return source
  }

  check('a list contains exactly the users of one brand for whom the field is true, with unchanged ids', async (t) => {
    const ids = hardIds.filter(canStore)
    const people = [
      ...ids.map((user) => ({ brand: '1', user, blocked: true })),
      ...ids.map((user) => ({ brand: '2', user, excluded: true })),
      { brand: '1', user: 'neither' },
    ]
    const source = await openSource(t, people)
    assert.deepEqual((await readList(source, '1', 'blocked')).users.toSorted(), ids.toSorted())
    assert.deepEqual((await readList(source, '2', 'excluded')).users.toSorted(), ids.toSorted())
    assert.deepEqual((await readList(source, '2', 'blocked')).users, [])
  })

  check('a look-up returns the users of one brand for whom each field is true, with unchanged ids', async (t) => {
    const ids = hardIds.filter(canStore)
    const source = await openSource(t, [
      ...ids.map((user) => ({ brand: '1', user, blocked: true })),
      ...ids.map((user, i) => ({ brand: '2', user, excluded: i % 2 === 0 })),
    ])
    assert.deepEqual(fieldsOf(source, '1'), ['blocked', 'excluded'])
    const strangers = ['nobody', '00123', '123', "' or true --", '']
    const one = await source.among('1', [...ids, ...strangers], ['blocked', 'excluded'], contextOf())
    assert.deepEqual([...(one.get('blocked') ?? [])].toSorted(), ids.toSorted())
    assert.deepEqual([...(one.get('excluded') ?? ['absent'])], [])
    const two = await source.among('2', ids, ['excluded'], contextOf())
    assert.deepEqual([...(two.get('excluded') ?? [])].toSorted(), ids.filter((_, i) => i % 2 === 0).toSorted())
  })

  check('a look-up ignores texts that cannot be user ids', async (t) => {
    const source = await openSource(t, [{ brand: '1', user: '1001', blocked: true }])
    const answer = await source.among('1', ['1001', 'a\u0000b', '\ud800'], ['blocked'], contextOf())
    assert.deepEqual([...(answer.get('blocked') ?? [])], ['1001'])
  })

  check('one look-up can contain thousands of users', async (t) => {
    const people = Array.from({ length: 3_000 }, (_, i) => ({ brand: '1', user: `u${i}`, blocked: i % 3 === 0 }))
    const source = await openSource(t, people)
    const users = people.map(({ user }) => user)
    const answer = await source.among('1', users, ['blocked', 'excluded'], contextOf())
    assert.equal(answer.get('blocked')?.size, 1_000)
    assert.equal(answer.get('excluded')?.size, 0)
  })

  check('a long list is read in chunks, and reading can stop early', async (t) => {
    const people = Array.from({ length: 20_000 }, (_, i) => ({ brand: '1', user: `user ${i}`, blocked: true }))
    const source = await openSource(t, people)
    const { users } = await readList(source, '1', 'blocked')
    assert.equal(new Set(users).size, 20_000)
    const reading = new AbortController()
    const { chunks } = await (source.all as NonNullable<typeof source.all>)('1', 'blocked', { signal: reading.signal })
    let seen = 0
    for await (const chunk of chunks) {
      seen += jsonOf(chunk).count
      break
    }
    reading.abort()
    assert.ok(seen > 0)
    assert.equal((await readList(source, '1', 'blocked')).users.length, 20_000, 'the source can be read again')
  })

  check('the timestamp of a list is in UTC and not in the future', async (t) => {
    const source = await openSource(t, [{ brand: '1', user: '1001', blocked: true }])
    const { timestamp } = await readList(source, '1', 'blocked')
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    assert.ok(Date.parse(timestamp) <= Date.now())
    assert.ok(Date.parse(timestamp) > Date.now() - 60_000)
  })

  if (!outside) return

  check('a look-up with an aborted signal is rejected', async (t) => {
    const source = await openSource(t, [{ brand: '1', user: '1001', blocked: true }])
    const stopped = AbortSignal.abort(new Error('stopping'))
    await assert.rejects(source.among('1', ['1001'], ['blocked'], contextOf(1_000, stopped)))
  })
}
