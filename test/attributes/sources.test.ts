// Runs the suite of attribute sources on every implementation.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { combine } from '../../src/subjects/attributes/combine.ts'
import { fileSource } from '../../src/subjects/attributes/file.ts'
import { functionSource } from '../../src/subjects/attributes/function.ts'
import { httpSource } from '../../src/subjects/attributes/http.ts'
import { sqlSource } from '../../src/subjects/attributes/sql.ts'
import { attributeSourceSuite, type Person } from '../suites/attribute-source.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'

const queries = {
  blocked: 'select user_id from players where brand = :brand and blocked;',
  excluded: "select user_id from players where brand = :brand and excluded -- not ':brand'",
}
const fields = ['blocked', 'excluded'] as const
type FieldName = (typeof fields)[number]

attributeSourceSuite({
  name: 'PostgreSQL',
  outside: true,
  skip: await withoutPostgres(),
  canStore: (user) => !user.includes('\0'),
  async open(_t, people) {
    const url = await freshSchema()
    await query(url, `create schema ${new URL(url).searchParams.get('schema')}`)
    await query(url, 'create table players (brand int, user_id text, blocked bool, excluded bool)')
    const rows = JSON.stringify(people.map((p) => ({ blocked: false, excluded: false, ...p, user_id: p.user })))
    await query(
      url,
      `insert into players select * from json_populate_recordset(null::players, '${rows.replaceAll("'", "''")}')`,
    )
    return sqlSource({ database: url, queries })
  },
})

attributeSourceSuite({
  name: 'file',
  async open(t, people) {
    const file = join(await temporary(t), 'users.ndjson')
    // The file source rejects a brand without users, so each brand gets one.
    const all = [...people, { brand: '1', user: 'somebody' }, { brand: '2', user: 'somebody' }]
    const line = ({ brand, user, blocked = false, excluded = false }: Person): string =>
      JSON.stringify({ brand, user_id: user, blocked, excluded })
    await writeFile(file, all.map(line).join('\n'))
    return fileSource(file)
  },
})

const usersWith = (people: readonly Person[], brand: string, field: FieldName): string[] =>
  people.filter((person) => person.brand === brand && person[field] === true).map(({ user }) => user)

attributeSourceSuite({
  name: 'function',
  open: async (_t, people) =>
    functionSource(
      fields,
      (brand, users, field) => {
        const all = new Set(usersWith(people, brand, field as FieldName))
        return users.filter((user) => all.has(user))
      },
      'function',
      (brand, field) => usersWith(people, brand, field as FieldName),
    ),
})

attributeSourceSuite({
  name: 'HTTP endpoint',
  outside: true,
  open: async (t, people) =>
    httpSource({ url: await endpoint(t, people), fields, auth: { kind: 'bearer', token: 'secret-of-the-endpoint' } }),
})

attributeSourceSuite({
  name: 'two combined',
  open: async (_t, people) =>
    combine(
      fields.map((only) => ({
        brands: ['1', '2'],
        source: functionSource(
          [only],
          (brand, users) => {
            const all = new Set(usersWith(people, brand, only))
            return users.filter((user) => all.has(user))
          },
          only,
          (brand) => usersWith(people, brand, only),
        ),
      })),
    ),
})

/** An operator's endpoint that speaks the protocol described in src/subjects/attributes/http.ts. */
async function endpoint(t: TestContext, people: readonly Person[]): Promise<string> {
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = await json(request)
    if (request.headers.authorization !== 'Bearer secret-of-the-endpoint') return response.writeHead(401).end()
    const asked = body as {
      brand: string
      field?: FieldName
      fields?: FieldName[]
      users: string[]
    }
    if (asked.field === undefined) {
      const among = (field: FieldName): string[] => {
        const all = new Set(usersWith(people, asked.brand, field))
        return asked.users.filter((user) => all.has(user))
      }
      return response.end(JSON.stringify(Object.fromEntries((asked.fields ?? []).map((f) => [f, among(f)]))))
    }
    const users = usersWith(people, asked.brand, asked.field)
    response.write(`${JSON.stringify({ timestamp: new Date().toISOString() })}\n`)
    for (const user of users) response.write(`${JSON.stringify(user)}\n`)
    response.end(`${JSON.stringify({ count: users.length })}\n`)
  })
  const { url } = await listenLocally(t, server)
  return `${url}/attributes`
}

test('the database of a source must be PostgreSQL', () => {
  assert.throws(
    () => sqlSource({ database: 'sqlite:players.db', queries }),
    /must be postgres:.*use a file, http or a module/,
  )
})

test('a function that returns no user ids as strings fails: nobody would be excluded', async () => {
  const context = { deadline: Date.now() + 1_000, signal: new AbortController().signal }
  for (const [found, shown] of [
    [undefined, 'undefined'],
    [null, 'null'],
    ['1001', '"1001"'],
    [[1001], '[1001]'],
    [new Map([['1001', true]]), '{}'],
    [{ 1001: true }, '{"1001":true}'],
  ] as const) {
    const source = functionSource(['excluded'], () => found as never)
    await assert.rejects(source.among('1', ['1001'], ['excluded'], context), {
      message: `the function returned ${shown} for excluded: return the user ids as strings`,
    })
  }
  const right = functionSource(['excluded'], () => new Set(['1001']).values())
  const answer = await right.among('1', ['1001'], ['excluded'], context)
  assert.deepEqual([...(answer.get('excluded') ?? [])], ['1001'])
})
