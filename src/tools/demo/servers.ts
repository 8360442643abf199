import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listen } from '../../base/http/http.ts'
import { chain } from '../../base/http/mount.ts'
import { createOperator } from '../../sides/operator/create-operator.ts'
import { createPlatform } from '../../sides/platform/create-platform.ts'
import type { AttributeSource } from '../../subjects/attributes/attribute-source.ts'
import { operatorApi } from '../../subjects/providers/operator-api.ts'
import type { StandIns } from '../stand-ins/all.ts'
import { brands, hasExcludedThemselves } from './cast.ts'
import { startPushServices } from './push-services.ts'

export interface Servers {
  readonly operator: { readonly url: string; readonly adminKey: string }
  readonly platform: { readonly url: string; readonly adminKey: string }
  /** The stand-ins of the push services. */
  readonly standIns: StandIns
  stop(): Promise<void>
}

/**
 * Starts an operator and a platform as in production: each has its own store and port, and they share only API keys. They talk
 * over HTTP. The push services of the operator are stand-ins.
 *
 * @param origins the origins of the operators' pages
 */
export async function startServers(origins: readonly string[]): Promise<Servers> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-demo-'))
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const stop = async (): Promise<void> => {
    while (undo.length > 0) await undo.pop()?.()
  }
  try {
    const apiKeys = brands.map(({ id, name }) => ({ name: `platform for ${name}`, key: key(), brands: [id] }))
    const admin = {
      name: 'demo',
      key: key(),
      scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes', 'tokens'] as const,
    }
    const { standIns, services, judgeDevice } = await startPushServices()
    undo.push(() => standIns.close())
    const operator = createOperator({
      store: `sqlite:${join(folder, 'operator.db')}`,
      keys: apiKeys,
      adminKeys: [admin],
      push: { devices: { source: 'registry', services } },
      judgeDevice,
      site: 'inbox',
      attributes: selfExclusion,
      app: { secrets: [key()], origins },
    })
    undo.push(() => operator.stop(2_000))
    await operator.start()
    const operatorHttp = await listen('operator', chain(operator.handler, operator.admin.handler))
    undo.push(() => operatorHttp.close(500))

    const crm = { name: 'demo', key: key(), scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] as const }
    const platform = createPlatform({
      store: `sqlite:${join(folder, 'platform.db')}`,
      keys: [crm],
      lanes: apiKeys.flatMap(({ key: apiKey, brands: [brand = ''] }) => [
        {
          brand,
          channel: 'push',
          mode: 'batch',
          max: 100,
          spanMs: 250,
          provider: operatorApi({ url: operatorHttp.url, apiKey }),
        },
        {
          brand,
          channel: 'site',
          mode: 'single',
          provider: operatorApi({ url: operatorHttp.url, apiKey }),
        },
      ]),
    })
    undo.push(() => platform.stop(2_000))
    await platform.start()
    const platformHttp = await listen('platform', chain(platform.handler, platform.admin.handler))
    undo.push(() => platformHttp.close(500))

    return {
      operator: { url: operatorHttp.url, adminKey: admin.key },
      platform: { url: platformHttp.url, adminKey: crm.key },
      standIns,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** In production, this would be a query of the operator's user database. */
const selfExclusion: AttributeSource = {
  name: 'demo',
  fields: ['excluded'],
  async among(brand, userIds) {
    return new Map([['excluded', new Set(userIds.filter((user) => hasExcludedThemselves(brand, user)))]])
  },
}

function key(): string {
  return randomBytes(24).toString('base64url')
}
