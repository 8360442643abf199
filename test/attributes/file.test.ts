import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { fileSource } from '../../src/attributes/file.ts'
import { temporary } from '../support/sides.ts'

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
  await assert.rejects(fileSource(path), /:2: no user_id/)
})
