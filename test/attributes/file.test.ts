import assert from 'node:assert/strict'
import { appendFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileSource } from '../../src/subjects/attributes/file.ts'
import { temporary } from '../support/sides.ts'
import { event } from '../support/wait.ts'

const context = { deadline: Date.now() + 60_000, signal: new AbortController().signal }

test('a CSV file gives the fields of each user, separately for each brand', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  await writeFile(path, 'brand,user_id,blocked,excluded\n1,1001,true,false\n2,1001,false,true\n1,"a,b",false,true\n')
  const source = await fileSource(path)
  assert.deepEqual(source.fields, ['blocked', 'excluded'])
  const one = await source.among('1', ['1001', 'a,b', 'nobody'], ['blocked', 'excluded'], context)
  assert.deepEqual([...(one.get('blocked') ?? [])], ['1001'])
  assert.deepEqual([...(one.get('excluded') ?? [])], ['a,b'])
  const two = await source.among('2', ['1001'], ['blocked', 'excluded'], context)
  assert.deepEqual([...(two.get('blocked') ?? [])], [])
  assert.deepEqual([...(two.get('excluded') ?? [])], ['1001'])
})

test('an NDJSON file is read; its lines need no brand when one brand is configured', async (t) => {
  const path = join(await temporary(t), 'users.ndjson')
  await writeFile(path, '{"user_id":"1","excluded":true}\n\n{"user_id":"2","excluded":false}\n')
  const source = await fileSource(path, { brand: '7' })
  assert.deepEqual([...((await source.among('7', ['1', '2'], ['excluded'], context)).get('excluded') ?? [])], ['1'])
  await assert.rejects(fileSource(path), /:1: no brand: add the column, or set brand in the configuration/)
})

test('a changed file is read again at the next look-up; with a missing or invalid file the look-up fails', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  await writeFile(path, 'brand,user_id,excluded\n1,1001,false\n')
  const source = await fileSource(path)
  const excluded = async (): Promise<string[]> => [
    ...((await source.among('1', ['1001'], ['excluded'], context)).get('excluded') ?? []),
  ]
  assert.deepEqual(await excluded(), [])
  await writeFile(path, 'brand,user_id,excluded\n1,1001,true\n2,1001,true\n')
  assert.deepEqual(await excluded(), ['1001'])
  await writeFile(path, 'brand,user_id,excluded\n1,1001,maybe\n2,1001,true\n')
  await assert.rejects(excluded(), /:2: excluded is "maybe"; write true or false/)
  await writeFile(path, 'brand,user_id,blocked\n1,1001,true\n')
  await assert.rejects(excluded(), /no longer has the column excluded/)
  await rm(path)
  await assert.rejects(excluded(), /ENOENT/)
  await writeFile(path, 'brand,user_id,excluded\n1,1001,true\n')
  assert.deepEqual(await excluded(), ['1001'])
})

test('a file without a field column, or a row without a user_id, is rejected at the start', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  await writeFile(path, 'brand,user_id\n1,1001\n')
  await assert.rejects(fileSource(path), /has none of the columns/)
  await writeFile(path, 'brand,user_id,excluded\n1,,true\n')
  await assert.rejects(fileSource(path), /:2: user_id is empty/)
  await writeFile(path, 'brand;user_id;excluded\n1;1001;true\n')
  await assert.rejects(fileSource(path), /:2: no user_id: the first line .* separated by commas/)
})

test('a list whose large user ids have lost digits is rejected: other users would be blocked', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  await writeFile(path, 'brand,user_id,excluded\n1,9.22337E+18,true\n')
  await assert.rejects(fileSource(path), /:2: user_id is 9\.22337E\+18, shortened by a spreadsheet/)
  await writeFile(path, '{"brand":"1","user_id":9223372036854775807,"excluded":true}\n')
  await assert.rejects(fileSource(path), /:1: user_id is the number 9\d+, whose digits may be lost/)
})

/** A file of 100 users of brand 1. The last one is blocked, and all have consented. */
const header = 'user_id,brand,blocked,consent_push_notification\n'
const rows = Array.from({ length: 100 }, (_, i) => `${i},1,${i === 99},true\n`)
const fieldsRead = ['blocked', 'consent_push_notification'] as const

async function openList(t: TestContext) {
  const path = join(await temporary(t), 'users.csv')
  await writeFile(path, header + rows.join(''))
  const source = await fileSource(path)
  /** The fields that are true for a user. */
  const read = async (user: string): Promise<string[]> => {
    const answer = await source.among('1', [user], fieldsRead, context)
    return fieldsRead.filter((field) => answer.get(field)?.has(user))
  }
  return { path, source, read }
}

test('a blocked user stays blocked when the file is cut at the end of a line, until a person confirms the file', async (t) => {
  const { path, source, read } = await openList(t)
  assert.deepEqual(await read('99'), fieldsRead)
  const held = event('suppression.held')
  await writeFile(path, header + ['0,1,true,false\n', ...rows.slice(1, 20)].join(''))
  assert.deepEqual(await read('99'), fieldsRead)
  assert.match((await held).why, /it lists 20 users of brand 1, and listed 100 before/)
  assert.deepEqual(await read('0'), ['blocked'], 'a user in the new file has its new values')
  assert.deepEqual(
    await read('50'),
    ['consent_push_notification'],
    'a user whom the new file lacks keeps the last values',
  )
  await assert.rejects(source.all?.('1', 'blocked', context) as Promise<unknown>, /is not confirmed: it lists 20 users/)
  const accepted = event('suppression.accepted')
  await writeFile(`${path}.confirmed`, '')
  assert.deepEqual(await read('99'), [])
  assert.deepEqual(await accepted, { source: `file ${path}` })
  assert.deepEqual(await read('0'), ['blocked'])
})

test('a complete file after a cut one counts at once, and an old confirmation confirms nothing', async (t) => {
  const { path, read } = await openList(t)
  await writeFile(`${path}.confirmed`, '')
  await writeFile(path, header + rows.slice(0, 20).join(''))
  assert.deepEqual(await read('99'), fieldsRead)
  await writeFile(path, header + [...rows.slice(0, 99), '99,1,false,true\n'].join(''))
  assert.deepEqual(await read('99'), ['consent_push_notification'])
})

test('blocked users stay blocked when the column is suddenly false for all of them', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  const write = (blocked: boolean) =>
    writeFile(path, `user_id,blocked\n${Array.from({ length: 50 }, (_, i) => `${i},${blocked}`).join('\n')}`)
  await write(true)
  const source = await fileSource(path, { brand: '1' })
  await write(false)
  assert.deepEqual([...((await source.among('1', ['7'], ['blocked'], context)).get('blocked') ?? [])], ['7'])
})

test('a small change of the list counts at once', async (t) => {
  const { path, read } = await openList(t)
  await writeFile(path, header + rows.slice(0, 90).join(''))
  assert.deepEqual(await read('99'), [])
})

test('a file that is still being written is not read; meanwhile the last list is in force', async (t) => {
  const { path, read } = await openList(t)
  await writeFile(path, header)
  let writing = true
  const writer = (async () => {
    while (writing) {
      await appendFile(path, '50,1,true,true\n')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  assert.deepEqual(await read('99'), fieldsRead)
  assert.deepEqual(await read('50'), ['consent_push_notification'])
  writing = false
  await writer
  await writeFile(path, header + [...rows.slice(0, 99), '99,1,false,true\n'].join(''))
  await utimes(path, new Date(), new Date(Date.now() - 60_000))
  assert.deepEqual(await read('99'), ['consent_push_notification'], 'a file at rest is read at once')
})

test('a user who is listed twice gets the stricter value of each field', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  const contradictions = [
    '1,1,true,true',
    '1,1,false,true',
    '2,1,false,true',
    '2,1,true,false',
    '3,1,false,false',
    '3,1,false,true',
  ]
  await writeFile(path, header + contradictions.join('\n'))
  const source = await fileSource(path)
  const answer = await source.among('1', ['1', '2', '3'], fieldsRead, context)
  assert.deepEqual([...(answer.get('blocked') ?? [])], ['1', '2'])
  assert.deepEqual([...(answer.get('consent_push_notification') ?? [])], ['1'])
})

test('a file in which it is unclear who is blocked is refused', async (t) => {
  const path = join(await temporary(t), 'users.csv')
  for (const [text, error] of [
    ['user_id,brand,blocked,excluded,blocked\n1001,1,true,false,false\n', /two columns are named blocked/],
    ['user_id,brand,Blocked,excluded\n1001,1,true,false\n', /the column Blocked is unknown: write blocked/],
    ['user_id,brand,blocked,Consent Push-Notification\n1,1,true,true\n', /write consent_push_notification/],
    ['{"user_id":"1","brand":1,"blocked":true,"blocked":false}', /:1: the member "blocked" occurs twice/],
    ['{"user_id":"1","brand":1,"blocked":true,"bl\\u006fcked":false}', /:1: the member "blocked" occurs twice/],
    ['{"user_id":"1","brand":1,"blocked":false,"Excluded":true}', /:1: the member Excluded is unknown: write excluded/],
    [
      '{"user_id":"1","brand":1,"blocked":true}\n{"user_id":"2","brand":null,"blocked":true}',
      /:2: brand is null: write/,
    ],
    ['{"user_id":null,"brand":1,"blocked":true}', /:1: user_id is null: write it as a string/],
    ['{"user_id":["1"],"brand":1,"blocked":true}', /:1: user_id is/],
  ] as const) {
    await writeFile(path, text)
    await assert.rejects(fileSource(path), error)
  }
  await writeFile(path, 'user_id,brand,blocked,,,note\n1001,1,true,,,x\n')
  assert.deepEqual((await fileSource(path)).fields, ['blocked'], 'unnamed columns are ignored')
})
