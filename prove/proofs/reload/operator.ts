// All credentials and limits of the push services of an operator are replaced while messages arrive. Each reload replaces the side within its process.

import assert from 'node:assert/strict'
import { truncate, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../test/support/free-port.ts'
import { startServices } from './services.ts'
import { type Answer, createCaller, createLoad, office, type Size, startSide, tickMs } from './side.ts'

const platformKey = 'the-key-of-the-platform-1'
/** The error of a push service with several counterparts. */
const stalled = 'it has not answered for a second'

export async function reloadOperator({ rounds, perSecond, folder }: Size, signal: AbortSignal) {
  const port = await freePort()
  const config = join(folder, 'operator.json')
  const services = await startServices(rounds)
  const { devices } = services
  const write = async (round: number): Promise<void> => {
    const push = { devices: { source: 'registry', services: await services.write(folder, round) } }
    await writeFile(
      config,
      JSON.stringify({
        log: { level: 'error' },
        operator: {
          store: 'sqlite:operator.db',
          port,
          suppression: 'none',
          keys: [{ name: 'platform', key: platformKey, brands: [1] }],
          admin_keys: [{ name: 'office', key: office, scopes: ['reload', 'audit', 'devices'] }],
          limits: { batch: 1_000 + round },
          push,
        },
      }),
    )
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const call = createCaller(port, agent, signal)
  const accepted: string[] = []
  let sent = 0
  let stalls = 0
  const send = async (): Promise<Answer> => {
    const id = ++sent
    const body = `{"activity":{"id":${id},"brand_id":1,"user_id":"${id % devices.length}","activity_id":7,"action_id":9,"trigger_hash":"h"},"title":"Hello","body":"There"}`
    let answer = await call('/channels/push/single', platformKey, body)
    // A machine that stood still for a second: the message is sent again, as a platform does.
    for (; answer.status === 503 && answer.body.includes(stalled); stalls++) {
      await sleep(100)
      answer = await call('/channels/push/single', platformKey, body)
    }
    if (answer.status === 200) accepted.push((JSON.parse(answer.body) as { push_id: string }).push_id)
    return answer
  }
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      signal.throwIfAborted()
      await sleep(tickMs)
    }
  }
  const latestReload = async (): Promise<{ readonly applied?: readonly string[] } | undefined> =>
    JSON.parse((await call('/admin/settings', office)).body).reload

  await write(0)
  const operator = startSide('operator', config)
  const load = createLoad(send, perSecond)
  try {
    await until(async () => {
      assert.equal(operator.child.exitCode, null, 'the operator runs')
      return (await call('/admin/settings', office).catch(() => undefined))?.status === 200
    })
    for (const [i, token] of devices.entries()) {
      const record = { brand: 1, user_id: String(i), tokens: [token] }
      assert.equal((await call('/admin/devices/link', office, JSON.stringify(record))).status, 200)
    }
    load.start(platformKey)
    const figures = { reloads_by_call: 0, reloads_by_sighup: 0, refused_reloads: 0 }
    for (let round = 1; round <= rounds; round++) {
      const before = accepted.length
      await until(() => accepted.length >= before + perSecond / 2)
      await write(round)
      await truncate(join(folder, 'fcm.json'), 500)
      const refused = await call('/admin/reload', office, '{}')
      assert.match(`${refused.status} ${refused.body}`, /^409 .*services\[0\]\.credentials/, 'half of a file')
      figures.refused_reloads++
      await write(round)
      if (round % 2 === 1) {
        figures.reloads_by_call++
        assert.equal((await call('/admin/reload', office, '{}')).status, 200)
      } else {
        figures.reloads_by_sighup++
        operator.child.kill('SIGHUP')
        await until(async () => (await latestReload())?.applied !== undefined)
      }
      const applied = (await latestReload())?.applied ?? []
      for (const each of changedSettings) assert.ok(applied.includes(each), `${each} is applied: ${applied.join()}`)
      // It is answered by the next side: the former one has ended.
      assert.equal((await send()).status, 200)
      services.retireFormer(round)
    }
    const before = accepted.length
    await until(() => accepted.length >= before + perSecond / 2)
    const { requests, failed } = await load.stop()
    assert.deepEqual(failed.slice(0, 10), [], `${failed.length} requests failed`)
    assert.deepEqual(services.wrong().slice(0, 10), [], 'requests that a push service refused')
    const delivered = services.delivered().map(withoutDashes)
    const found = new Set(delivered)
    const missing = accepted.filter((id) => !found.has(withoutDashes(id)))
    assert.deepEqual(missing.slice(0, 10), [], 'messages that were not delivered')
    const repeated = delivered.filter((id) => !found.delete(id))
    assert.deepEqual(repeated.slice(0, 10), [], 'messages that were delivered twice')
    assert.equal(delivered.length, accepted.length, 'only accepted messages were delivered')
    return { requests, messages: accepted.length, stalls, ...figures }
  } finally {
    await load.stop()
    await operator.kill()
    agent.destroy()
    await services.close()
  }
}

const changedSettings = [
  'operator.limits.batch',
  ...['credentials', 'concurrency', 'per_second'].map((name) => `operator.push.devices.services[0].${name}`),
  ...['key', 'key_id'].map((name) => `operator.push.devices.services[1].${name}`),
  ...['public_key', 'private_key'].map((name) => `operator.push.devices.services[2].${name}`),
  'operator.push.devices.services[3].secrets[0].value',
]

/** A topic of Web Push has at most 32 characters. */
const withoutDashes = (id: string): string => id.replaceAll('-', '')
