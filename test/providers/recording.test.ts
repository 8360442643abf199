import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { recording } from '../../src/subjects/providers/recording.ts'
import { message, messages, providerSuite } from '../suites/provider.ts'
import { contextOf } from '../support/context.ts'
import { temporary } from '../support/sides.ts'

providerSuite({ name: 'recording', accepting: async () => recording() })

test('recording: each message is a line in the file before it is accepted', async (t) => {
  const file = join(await temporary(t), 'pushes.ndjson')
  const provider = recording({ file })
  await provider.send([message(1), message(2, { attempt: 3 })], contextOf())
  await provider.send([message(1, { brand: '2' })], contextOf())
  assert.equal((await stat(file)).mode & 0o777, 0o600, 'it has texts and identifiers of users')
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { ref: 'ref 1 1', attempt: 1, brand: '1', user_id: '1001', id: '1', text: message(1).text },
      { ref: 'ref 1 2', attempt: 3, brand: '1', user_id: '1001', id: '2', text: message(2).text },
      { ref: 'ref 2 1', attempt: 1, brand: '2', user_id: '1001', id: '1', text: message(1, { brand: '2' }).text },
    ],
  )
})

test('recording: if a message cannot be written, it is not accepted', async (t) => {
  const folder = await temporary(t)
  await writeFile(join(folder, 'file'), '')
  const provider = recording({ file: join(folder, 'file', 'within') })
  await assert.rejects(async () => provider.send(messages(1), contextOf()), /ENOTDIR/)
  assert.deepEqual(provider.last, [])
})

test('recording: the folder is created with the first message', async (t) => {
  const file = join(await temporary(t), 'not', 'yet', 'pushes.ndjson')
  const provider = recording({ file })
  await assert.rejects(readFile(file))
  await provider.send(messages(2), contextOf())
  assert.equal((await readFile(file, 'utf8')).trimEnd().split('\n').length, 2)
})

test('recording: the last 1,000 messages are kept in memory', async () => {
  const provider = recording()
  await provider.send(messages(900), contextOf())
  await provider.send(messages(900, 901), contextOf())
  assert.equal(provider.last.length, 1_000)
  assert.equal(provider.last.at(-1)?.id, '1800')
})
