// Moves brand 2 from `store` to store 1, and holds the command at a point of its work.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { PlatformOptions } from '../../../src/sides/platform/options.ts'
import { platformStores } from '../../../src/sides/platform/stores.ts'
import { type MovePhase, openBrandMover } from '../../../src/subjects/brands/move/move-brand.ts'
import { type Started as StartedCommand, start as startCommand } from '../../cli/bellwire.ts'
import { query } from '../../support/services/postgres.ts'
import { startPlatform, temporary, type Witness, witness } from '../../support/sides.ts'
import type { TwoStores } from '../../support/two-stores.ts'
import { lane } from './several-stores.ts'

type Urls = TwoStores['urls']

/** The stores before and after the move, as settings. Brand 3 always lives in store 1. */
export const before = ([store, url]: Urls) => ({ store, stores: [{ number: 1, url, brands: ['3'] }] })
export const after = ([store, url]: Urls) => ({ store, stores: [{ number: 1, url, brands: ['2', '3'] }] })

/** Starts a platform with lanes of brands 1, 2 and 3. */
export async function startBrands(
  t: TestContext,
  { stops }: Pick<TwoStores, 'stops'>,
  settings: Pick<PlatformOptions, 'store' | 'stores'>,
  { provider = witness(), ...options }: Partial<PlatformOptions> & { readonly provider?: Witness } = {},
) {
  const lanes = ['1', '2', '3'].map((brand) => lane(brand, options.own ? 'own' : provider))
  const platform = await startPlatform(t, { ...settings, ...options, lanes })
  stops.push(platform.stop)
  return { ...platform, provider }
}

/** Moves a brand in this process. @returns the phases */
export async function move(
  settings: Pick<PlatformOptions, 'store' | 'stores'>,
  { brand = '2', to = 1 }: { readonly brand?: string; readonly to?: number } = {},
): Promise<MovePhase[]> {
  const phases: MovePhase[] = []
  const stores = platformStores(settings)
  const mover = await openBrandMover({ stores, attemptMs: 60_000 }, brand, to)
  try {
    await mover.move((phase) => phases.push(phase), AbortSignal.timeout(60_000))
    return phases
  } finally {
    await mover.close()
  }
}

/** Starts the command as a process of its own. */
export async function startMove(
  t: TestContext,
  { store, stores = [] }: Pick<PlatformOptions, 'store' | 'stores'>,
  args: readonly string[] = ['2', '--to', '1', '--yes'],
): Promise<StartedCommand> {
  const file = join(await temporary(t), 'bellwire.json')
  await writeFile(file, JSON.stringify({ platform: { store, stores, lanes: [], keys: [] } }))
  return startCommand(t, ['platform', 'move-brand', ...args, '--config', file])
}

/** The number of rows of brand 2 in these tables. */
export async function rowsIn(
  url: string,
  tables: readonly string[] = ['items', 'waiting', 'settled'],
): Promise<number> {
  const [row] = await query(
    url,
    `select ${tables.map((table) => `(select count(*) from ${table} where lane like '2/%')`).join(' + ')} as n`,
  )
  return Number(row?.n)
}
