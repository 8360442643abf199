import type { LaneState } from '../../base/queue/queue.ts'
import { withDefaults } from '../../base/runtime/present.ts'
import { defaultsOf } from '../../base/runtime/setting.ts'
import type { Database } from '../../base/store/database.ts'
import { readDiskFree } from '../../base/store/disk-free.ts'
import { alerts as settings } from '../settings/alerts.ts'
import { type AlertOptions, createAlerts } from './alerts.ts'
import { storedReports } from './reports.ts'
import { createTroubles, type TroubleLimits, type TroubleSources } from './troubles.ts'

/** Alerts of a side. The limits have defaults: docs/settings.md. */
export type AlertsOptions = Pick<AlertOptions, 'to'> & Partial<AlertOptions & TroubleLimits>

interface Parts {
  readonly lanes: () => readonly { state(): Promise<LaneState> }[]
  /** The address of the first store. */
  readonly store: string
  /** Of the first store. */
  readonly database: Database
  readonly findings?: TroubleSources['findings']
}

const defaults = defaultsOf(settings.settings)

/** Starts the alerts of a side, if they are configured. @returns a function that stops them */
export function alertsOf(
  options: AlertsOptions | undefined,
  { lanes, store, database, findings }: Parts,
): () => Promise<void> {
  if (!options) return async () => {}
  const given = { ...withDefaults(defaults, options), to: options.to }
  const troubles = createTroubles({ lanes, diskFree: () => readDiskFree(store), ...(findings && { findings }) }, given)
  const alerts = createAlerts(troubles, given, storedReports(database))
  alerts.start()
  return () => alerts.stop()
}
