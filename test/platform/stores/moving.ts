// Moves brand 2 from `store` to store 1, and holds the command at a point of its work.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { PlatformOptions } from '../../../src/sides/platform/options.ts'
import { platformStores } from '../../../src/sides/platform/stores.ts'
import { type MovePhase, openBrandMover } from '../../../src/subjects/brands/move/move-brand.ts'
import { type Run, run, type Started, start } from '../../cli/bellwire.ts'
import { query } from '../../support/services/postgres.ts'
import { startPlatform, temporary, type Witness, witness } from '../../support/sides.ts'
import type { TwoStores } from '../../support/two-stores.ts'
import { lane } from './several-stores.ts'

type Urls = TwoStores['urls']
type Settings = Pick<PlatformOptions, 'store' | 'stores'>

/** The stores before and after the move, as settings. Brand 3 always lives in store 1. */
export const before = ([store, url]: Urls) => ({ store, stores: [{ number: 1, url, brands: ['3'] }] })
export const after = ([store, url]: Urls) => ({ store, stores: [{ number: 1, url, brands: ['2', '3'] }] })

/** Starts a platform with lanes of brands 1, 2 and 3. */
export async function startBrands(
  t: TestContext,
  { stops }: Pick<TwoStores, 'stops'>,
  settings: Settings,
  { provider = witness(), ...options }: Partial<PlatformOptions> & { readonly provider?: Witness } = {},
) {
  const lanes = ['1', '2', '3'].map((brand) => lane(brand, options.own ? 'own' : provider))
  const platform = await startPlatform(t, { ...settings, ...options, lanes })
  stops.push(platform.stop)
  return { ...platform, provider }
}

/** Moves a brand in this process. @returns the phases */
export async function move(
  settings: Settings,
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

/** Starts the command as a process of its own, which the test kills. */
export const startMove = async (t: TestContext, settings: Settings): Promise<Started> =>
  start(t, await commandLine(t, settings, '2', '--to', '1', '--yes'))

export const runMove = async (t: TestContext, settings: Settings, ...args: string[]): Promise<Run> =>
  run(await commandLine(t, settings, ...args))

async function commandLine(t: TestContext, { store, stores = [] }: Settings, ...args: string[]): Promise<string[]> {
  const file = join(await temporary(t), 'bellwire.json')
  await writeFile(file, JSON.stringify({ platform: { store, stores, lanes: [], keys: [] } }))
  return ['platform', 'move-brand', ...args, '--config', file]
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
