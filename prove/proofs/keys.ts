// Keys are replaced, revoked and expire while requests arrive: the command runs as a process, and each change is a reload.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.ts'
import { importOptions } from '../../test/support/quick-imports/import-options.ts'
import type { Proof } from '../harness/proof.ts'

const sizes = { small: { rounds: 3, perSecond: 50 }, full: { rounds: 20, perSecond: 500 } }
const tickMs = 10
const office = 'the-key-of-the-office-1'
const command = join(import.meta.dirname, '../../bin/bellwire.cjs')

interface Key {
  readonly key: string
  readonly expires_at?: string
}

export const keys: Proof = {
  name: 'keys',
  claims:
    'while keys are replaced, expire and are revoked by reloads under 500 requests a second, no request with a good key fails, and none with a revoked key passes after the answer to the reload',
  boundSeconds: { small: 60, full: 180 },
  async run({ small, folder }, signal) {
    const { rounds, perSecond } = small ? sizes.small : sizes.full
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const config = join(folder, 'bellwire.json')
    const write = (accepted: readonly Key[]): Promise<void> =>
      writeFile(
        config,
        JSON.stringify({
          log: { level: 'error' },
          operator: {
            store: 'sqlite:operator.db',
            port,
            suppression: 'none',
            push: { provider: 'recording', file: 'pushed.ndjson' },
            admin_keys: [{ name: 'office', key: office, scopes: ['reload'] }],
            keys: accepted.map((each, i) => ({ name: `key-${i}`, brands: [1], ...each })),
          },
        }),
      )
    const accept = async (accepted: readonly Key[]): Promise<void> => {
      await write(accepted)
      const answer = await fetch(`${url}/admin/reload`, { method: 'POST', headers: { 'x-api-key': office } })
      assert.equal(answer.status, 200, await answer.text())
    }

    let sent = 0
    /** @returns the status. A lost connection rejects */
    const send = async (key: string): Promise<number> => {
      const body = `{"activity":{"id":${++sent},"brand_id":1,"user_id":"${sent % 100}","activity_id":7,"action_id":9,"trigger_hash":"h"},"title":"Hello","body":"There"}`
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const answer = await fetch(`${url}/channels/push/single`, { method: 'POST', headers, body, signal })
      await answer.arrayBuffer()
      return answer.status
    }
    const keyOf = (round: number): string => `the-key-of-round-${round}`

    await write([{ key: keyOf(0) }])
    const args = ['--disable-warning=ExperimentalWarning', ...importOptions, '--conditions=bellwire-source', command]
    const operator = spawn(process.execPath, [...args, 'operator', '-c', config], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(operator, 'exit')
    const load = createLoad(send, perSecond)
    try {
      while ((await send(keyOf(0)).catch(() => 0)) !== 200) {
        signal.throwIfAborted()
        assert.equal(operator.exitCode, null, 'the operator runs')
        await sleep(50)
      }
      load.start(keyOf(0))
      const figures = { revoked: 0, expired: 0 }
      for (let round = 1; round <= rounds; round++) {
        signal.throwIfAborted()
        const [old, next, passing] = [keyOf(round - 1), keyOf(round), `the-passing-key-${round}`]
        const expiresAt = Date.now() + 700
        await accept([{ key: old }, { key: next }, { key: passing, expires_at: new Date(expiresAt).toISOString() }])
        await load.change(next)
        assert.equal(await send(next), 200)
        await accept([{ key: next }, { key: passing, expires_at: new Date(expiresAt).toISOString() }])
        figures.revoked += await demandRefused(old)
        while (Date.now() <= expiresAt) await sleep(tickMs)
        figures.expired += await demandRefused(passing)
      }
      const { requests, failed } = await load.stop()
      assert.deepEqual(failed.slice(0, 10), [], `${failed.length} requests with a good key failed`)
      assert.equal(await send(keyOf(rounds)), 200)
      return { requests, reloads: 2 * rounds, ...figures }
    } finally {
      await load.stop()
      operator.kill('SIGKILL')
      await ended
    }

    async function demandRefused(key: string): Promise<number> {
      const statuses = await Promise.all(Array.from({ length: 20 }, () => send(key)))
      // 503: the address has sent many wrong keys.
      const passed = statuses.filter((status) => status !== 401 && status !== 503)
      assert.deepEqual(passed, [], `${key} is refused`)
      return statuses.length
    }
  },
}

/** Sends at a steady rate, with one key at a time. */
function createLoad(send: (key: string) => Promise<number>, perSecond: number) {
  const open = new Set<Promise<void>>()
  const failed: string[] = []
  let key = ''
  let requests = 0
  let timer: NodeJS.Timeout | undefined

  function sendOne(): void {
    requests++
    const used = key
    const sending = send(used)
      .then(
        (status) => void (status === 200 || failed.push(`${used}: ${status}`)),
        (error: Error) => void failed.push(`${used}: ${error.message}`),
      )
      .finally(() => open.delete(sending))
    open.add(sending)
  }

  return {
    start(first: string): void {
      key = first
      const began = performance.now()
      timer = setInterval(() => {
        const due = ((performance.now() - began) * perSecond) / 1_000
        while (requests < due) sendOne()
      }, tickMs)
    },
    /** Resolves when no request with the former key is in progress. */
    async change(next: string): Promise<void> {
      key = next
      await Promise.all(open)
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
      return { requests, failed }
    },
  }
}
