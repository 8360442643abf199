import assert from 'node:assert/strict'
import test from 'node:test'
import { checkConsistency } from '../../src/sides/config/check-consistency.ts'
import type { Fault } from '../../src/sides/config/problem.ts'
import type { Config } from '../../src/sides/config/table.ts'

test("an operator's key on the platform needs exactly one brand if it has the scope devices", () => {
  const problemsOf = (brands?: string[], scopes = ['devices']): readonly Fault[] => {
    const keys = [{ name: 'operator', key: 'a-key-of-16-chars', scopes, ...(brands && { brands }) }]
    return checkConsistency({ platform: { keys, lanes: [] } } as unknown as Config)
  }
  assert.deepEqual(problemsOf(['1']), [])
  assert.deepEqual(problemsOf(undefined, ['read']), [])
  for (const brands of [undefined, ['1', '2']]) {
    const [problem] = problemsOf(brands)
    assert.equal(problem?.path, 'platform.keys[0].brands')
    assert.match(problem?.remedy ?? '', /brands: \[1\]/)
  }
})

test('a presentation for a push service that does not exist is refused', () => {
  const problemsOf = (services: object[], named: string[]): readonly Fault[] => {
    const push = { is: 'devices', devices: { services, presentation: [{ services: named }] } }
    return checkConsistency({ operator: { keys: [], attributes: [], push } } as unknown as Config)
  }
  const fcm = { is: 'fcm', name: 'fcm' }
  assert.deepEqual(problemsOf([fcm], ['fcm']), [])
  const [problem] = problemsOf([fcm], ['fcm', 'apns'])
  assert.equal(problem?.path, 'operator.push.devices.presentation[0].services')
  assert.match(problem?.description ?? '', /"apns"/)
  assert.deepEqual(problemsOf([{ is: 'module', name: 'service' }], ['mine']), [], 'a module names its own service')
})

test('the keys of transactional messages are keys of the platform that may enqueue', () => {
  const key = { name: 'login', key: 'a-key-of-16-chars', scopes: ['enqueue'] }
  const problemsOf = (keys: object[]): readonly Fault[] => {
    const lane = { to: {}, status: {}, retry: { firstMs: 1, mostMs: 2 }, transactional: { keys: ['login'] } }
    return checkConsistency({ platform: { keys, lanes: [lane] } } as unknown as Config)
  }
  assert.deepEqual(problemsOf([key]), [])
  for (const keys of [[], [{ ...key, name: 'crm' }], [{ ...key, scopes: ['counts', 'read'] }]]) {
    const [problem] = problemsOf(keys)
    assert.equal(problem?.path, 'platform.lanes[0].transactional.keys[0]')
    assert.match(problem?.description ?? '', /scope enqueue is named "login"/)
  }
})
