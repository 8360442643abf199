// A platform that delivers by itself is killed between the acceptance by its provider and the settle.

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onPostgres, onSqlite } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { element, enqueueAt, get, temporary, untilSettled } from '../support/sides.ts'
import { until } from '../support/wait.ts'

onSqlite('a killed process loses no message, and sends again only a message without an outcome', async (t, store) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const witness = join(await temporary(t), 'witness')
  const linesOf = (id: number): string[] =>
    existsSync(witness)
      ? readFileSync(witness, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith(`${id} `))
      : []
  const enqueue = (id: number) => enqueueAt(url, [element({ id })])

  const first = await startChild(t, [store, String(port), witness, '62'])
  await enqueue(61)
  await untilSettled(url)
  await enqueue(62)
  await until(() => linesOf(62).length === 1, { awaited: 'the provider has the message' })
  await kill(first)
  const second = await startChild(t, [store, String(port), witness])
  await untilSettled(url)
  assert.equal(linesOf(61).length, 1, 'a settled message is not sent again')
  assert.equal(linesOf(62).length, 2)
  assert.equal(new Set(linesOf(62)).size, 1, 'both sends have the same identifier')
  const { body } = await get(`${url}/admin/messages?id=62`)
  const { delivery } = (await get(`${url}/admin/messages/${body.messages[0].seq}`)).body
  assert.deepEqual([delivery.outcome, delivery.attempts, delivery.uncertain], ['successful', 2, 1])
  await kill(second)
})

onPostgres('another living process takes over the message of a killed one, with its identifier', async (t, store) => {
  const witness = join(await temporary(t), 'witness')
  const lines = (): string[] => (existsSync(witness) ? readFileSync(witness, 'utf8').trim().split('\n') : [])
  const [portOfOne, portOfTwo] = [await freePort(), await freePort()]
  const one = await startChild(t, [store, String(portOfOne), witness, '63'])
  await enqueueAt(`http://127.0.0.1:${portOfOne}`, [element({ id: 63 })])
  await until(() => lines().length === 1, { awaited: 'the provider has the message' })
  const two = await startChild(t, [store, String(portOfTwo), witness])
  const url = `http://127.0.0.1:${portOfTwo}`
  await enqueueAt(url, [element({ id: 63 })])
  assert.equal(lines().length, 1, 'a living process keeps its claim')
  await kill(one)
  await untilSettled(url, 60_000)
  assert.equal(lines().length, 2)
  assert.equal(new Set(lines()).size, 1, 'both sends have the same identifier')
  const { body } = await get(`${url}/admin/messages?id=63`)
  const { delivery } = (await get(`${url}/admin/messages/${body.messages[0].seq}`)).body
  assert.deepEqual([delivery.outcome, delivery.attempts, delivery.uncertain], ['successful', 2, 1])
  await kill(two)
})

async function startChild(t: TestContext, args: readonly string[]): Promise<ChildProcess> {
  const child = fork(new URL('own-delivery-child.ts', import.meta.url), [...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')])
  assert.equal(message, 'ready')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
