// Shadow operation: the operator in production answers the platform, and Bellwire answers copies of the same requests, without delivering
// anything. The answers are compared.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listen } from '../../base/http/http.ts'
import { random } from '../../base/runtime/random.ts'
import { atMost } from '../../base/runtime/within.ts'
import { createOperator } from '../../sides/operator/create-operator.ts'
import type { OperatorOptions } from '../../sides/operator/options.ts'
import { createComparison } from './compare.ts'
import { createCopies } from './copies.ts'
import { harmless } from './harmless.ts'
import { startProxy } from './proxy.ts'
import { createTally, type ShadowReport } from './tally.ts'

export interface ShadowOptions {
  /** {base_url} of the operator in production. */
  readonly operator: string
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  /** Of the operator that is to replace it. */
  readonly options: OperatorOptions
  /** Links the devices of a file, through /admin of Bellwire. Absent: each user of a registry has a device. */
  readonly importDevices?: (admin: { readonly url: string; readonly key: string }) => Promise<void>
}

export interface Shadow {
  /** The address that the platform calls. */
  readonly url: string
  /** Resolves when each copy that waits is compared. */
  idle(): Promise<void>
  /** Answers the requests in progress, compares the copies, and removes the store. */
  stop(): Promise<ShadowReport>
}

const stopWithinMs = 10_000

/**
 * @throws Error if an address is taken, or the store cannot be opened
 * @example
 * const shadow = await startShadow({ operator: 'http://127.0.0.1:8080', host: '127.0.0.1', port: 8090, options })
 * const { differences } = await shadow.stop()
 */
export async function startShadow({
  operator: to,
  host,
  port,
  options,
  importDevices,
}: ShadowOptions): Promise<Shadow> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-shadow-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const stopAll = async (): Promise<void> => {
    while (stops.length > 0) await stops.pop()?.()
  }
  try {
    const adminKey = { name: 'import', key: random.bytes(32).toString('hex'), scopes: ['devices' as const] }
    const store = `sqlite:${join(folder, 'operator.db')}`
    const bellwire = createOperator({
      ...harmless(options, store, importDevices !== undefined),
      ...(importDevices && { adminKeys: [adminKey] }),
    })
    await bellwire.start()
    stops.push(() => bellwire.stop(stopWithinMs))
    if (importDevices) {
      const admin = await listen('operator', bellwire.admin.handler)
      await importDevices({ url: admin.url, key: adminKey.key }).finally(() => admin.close(0))
    }
    const inner = await listen('operator', bellwire.handler)
    stops.push(() => inner.close(0))
    const tally = createTally()
    const comparison = createComparison(tally)
    const copies = createCopies(inner.url, comparison, tally)
    const proxy = await startProxy({ to, host, port, onForwarded: copies.add, onUncopied: tally.leaveOut })
    return {
      url: proxy.url,
      idle: copies.idle,
      async stop() {
        await proxy.close(stopWithinMs)
        await atMost(stopWithinMs, copies.idle())
        comparison.end()
        await stopAll()
        return tally.report()
      },
    }
  } catch (error) {
    await stopAll()
    throw error
  }
}
