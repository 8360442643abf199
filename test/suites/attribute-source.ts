// What every source of attributes promises, whatever it reads from.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AttributeSource, type Field, fieldsOf } from '../../src/attributes/attribute-source.ts'
import { jsonOf } from '../../src/attributes/id-chunks.ts'

export interface Person {
  readonly brand: string
  readonly user: string
  readonly blocked?: boolean
  readonly excluded?: boolean
}

export interface SourceFixture {
  readonly name: string
  readonly skip?: string | false
  /** It asks something outside of this process. */
  readonly outside?: true
  /** A source of blocked and excluded with these people in it. */
  readonly open: (t: TestContext, people: readonly Person[]) => Promise<AttributeSource>
  /** Ids that it cannot hold are left out. */
  readonly holds?: (user: string) => boolean
}

/** Two brands with equal ids, of which different things are true, and ids that are hard to write. */
const hard = [
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

export const soon = (ms = 10_000, signal: AbortSignal = new AbortController().signal) => ({
  deadline: Date.now() + ms,
  signal,
})

/** Reads a whole list as the answer would carry it. */
export async function listed(
  source: AttributeSource,
  brand: string,
  field: Field,
): Promise<{ users: string[]; timestamp: string }> {
  assert.ok(source.all, 'it lists')
  const { timestamp, chunks } = await source.all(brand, field, { signal: new AbortController().signal })
  const parts: Uint8Array[] = []
  let count = 0
  for await (const chunk of chunks) {
    const json = jsonOf(chunk)
    JSON.parse(`[${Buffer.from(json.json).subarray(1)}]`) // whole ids only
    parts.push(Buffer.from(json.json)) // its bytes are good until the next chunk
    count += json.count
  }
  const users = JSON.parse(`[${Buffer.concat(parts).subarray(1)}]`) as string[]
  assert.equal(users.length, count)
  return { users, timestamp }
}

export function attributeSourceSuite({ name, skip = false, outside, open, holds = () => true }: SourceFixture): void {
  const check = (title: string, run: (t: TestContext) => Promise<void>): void =>
    void test(`${name}: ${title}`, { skip, timeout: 60_000 }, run)
  const opened = async (t: TestContext, people: readonly Person[]): Promise<AttributeSource> => {
    const source = await open(t, people)
    t.after(() => source.close?.())
    return source
  }

  check('it lists exactly those for whom the field is true, of one brand, to the letter', async (t) => {
    const ids = hard.filter(holds)
    const people = [
      ...ids.map((user) => ({ brand: '1', user, blocked: true })),
      ...ids.map((user) => ({ brand: '2', user, excluded: true })),
      { brand: '1', user: 'neither' },
    ]
    const source = await opened(t, people)
    assert.deepEqual((await listed(source, '1', 'blocked')).users.toSorted(), ids.toSorted())
    assert.deepEqual((await listed(source, '2', 'excluded')).users.toSorted(), ids.toSorted())
    assert.deepEqual((await listed(source, '2', 'blocked')).users, [])
  })

  check('of some users it says who has which field, in their own brand, to the letter', async (t) => {
    const ids = hard.filter(holds)
    const source = await opened(t, [
      ...ids.map((user) => ({ brand: '1', user, blocked: true })),
      ...ids.map((user, i) => ({ brand: '2', user, excluded: i % 2 === 0 })),
    ])
    assert.deepEqual(fieldsOf(source, '1'), ['blocked', 'excluded'])
    const strangers = ['nobody', '00123', '123', "' or true --", '']
    const one = await source.among('1', [...ids, ...strangers], ['blocked', 'excluded'], soon())
    assert.deepEqual([...(one.get('blocked') ?? [])].toSorted(), ids.toSorted())
    assert.deepEqual([...(one.get('excluded') ?? ['absent'])], [])
    const two = await source.among('2', ids, ['excluded'], soon())
    assert.deepEqual([...(two.get('excluded') ?? [])].toSorted(), ids.filter((_, i) => i % 2 === 0).toSorted())
  })

  check('what cannot be anybody’s id does not spoil the question about the others', async (t) => {
    const source = await opened(t, [{ brand: '1', user: '1001', blocked: true }])
    const answer = await source.among('1', ['1001', 'a\u0000b', '\ud800'], ['blocked'], soon())
    assert.deepEqual([...(answer.get('blocked') ?? [])], ['1001'])
  })

  check('many users are one question', async (t) => {
    const people = Array.from({ length: 3_000 }, (_, i) => ({ brand: '1', user: `u${i}`, blocked: i % 3 === 0 }))
    const source = await opened(t, people)
    const users = people.map(({ user }) => user)
    const answer = await source.among('1', users, ['blocked', 'excluded'], soon())
    assert.equal(answer.get('blocked')?.size, 1_000)
    assert.equal(answer.get('excluded')?.size, 0)
  })

  check('a long list comes in chunks, and can be left', async (t) => {
    const people = Array.from({ length: 20_000 }, (_, i) => ({ brand: '1', user: `user ${i}`, blocked: true }))
    const source = await opened(t, people)
    const { users } = await listed(source, '1', 'blocked')
    assert.equal(new Set(users).size, 20_000)
    const leave = new AbortController()
    const { chunks } = await (source.all as NonNullable<typeof source.all>)('1', 'blocked', { signal: leave.signal })
    let seen = 0
    for await (const chunk of chunks) {
      seen += jsonOf(chunk).count
      break
    }
    leave.abort()
    assert.ok(seen > 0)
    assert.equal((await listed(source, '1', 'blocked')).users.length, 20_000, 'it answers again')
  })

  check('its timestamp is UTC, and no later than now', async (t) => {
    const source = await opened(t, [{ brand: '1', user: '1001', blocked: true }])
    const { timestamp } = await listed(source, '1', 'blocked')
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    assert.ok(Date.parse(timestamp) <= Date.now())
    assert.ok(Date.parse(timestamp) > Date.now() - 60_000)
  })

  if (!outside) return

  check('a question that comes when its process stops is not answered', async (t) => {
    const source = await opened(t, [{ brand: '1', user: '1001', blocked: true }])
    const stopped = AbortSignal.abort(new Error('stopping'))
    await assert.rejects(source.among('1', ['1001'], ['blocked'], soon(1_000, stopped)))
  })
}
