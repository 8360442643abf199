import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { functionDevices } from '../../src/subjects/devices/sources/function.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { keys, temporary, witness } from '../support/sides.ts'

test('an operator that fails to start closes its store', async (t) => {
  const store = `sqlite:${join(await temporary(t), 'operator.db')}`
  const common = { store, keys: [keys.both], suppression: 'none' } as const
  const source = functionDevices(() => [])
  const service: PushService = { name: 'pager', concurrency: 1, reaches: () => true, send: () => Promise.reject() }
  await assert.rejects(
    createOperator({ ...common, push: { devices: { source, services: [service, service] } } }).start(),
    /two push services are named pager/,
  )
  // A SQLite file can have one owner only: this start would fail if the file were still open.
  const operator = createOperator({ ...common, push: witness() })
  await operator.start()
  await operator.stop()
})

test('an operator starts once: a second start, and one after a stop, are refused', async (t) => {
  const store = `sqlite:${join(await temporary(t), 'operator.db')}`
  const operator = createOperator({ store, keys: [keys.both], suppression: 'none' })
  const [first, second] = await Promise.allSettled([operator.start(), operator.start()])
  assert.equal(first.status, 'fulfilled')
  assert.match(
    String((second as PromiseRejectedResult).reason),
    /the operator was started already: call start\(\) once/,
  )
  await operator.stop()
  await assert.rejects(operator.start(), /the operator was stopped, and starts once: create another one/)
})

test('a stop during the start ends the operator: its start rejects, and its store is closed', async (t) => {
  const store = `sqlite:${join(await temporary(t), 'operator.db')}`
  const common = { store, keys: [keys.both], suppression: 'none' } as const
  const operator = createOperator(common)
  const started = assert.rejects(operator.start(), /the operator was stopped/)
  await operator.stop()
  await started
  const next = createOperator(common)
  await next.start()
  await next.stop()
})

test('an operator whose start failed can be started again', async (t) => {
  const store = `sqlite:${join(await temporary(t), 'operator.db')}`
  const common = { store, keys: [keys.both], suppression: 'none' } as const
  const [owner, operator] = [createOperator(common), createOperator(common)]
  await owner.start()
  await assert.rejects(operator.start(), /is open in another process/)
  await owner.stop()
  await operator.start()
  await operator.stop()
})
