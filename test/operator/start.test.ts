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
