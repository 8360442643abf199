// The settings of a lane that can be changed while it runs: the configured values, and the values in effect. Pure.

import type { Lane, LaneSettings } from '../queue.ts'
import type { Control } from './controls.ts'

export type SettingName = keyof LaneSettings

export const settingNames = ['mode', 'max', 'spanMs', 'concurrency', 'perSecond'] as const satisfies SettingName[]

/** The control that overrides a setting of a lane. */
export const overrideOf = (lane: string, name: SettingName) => ({ scope: lane, kind: 'setting', name }) as const

/** The settings in the configuration. */
export function configuredSettings({ mode = 'batch', max, spanMs, concurrency, perSecond }: Lane): LaneSettings {
  return { mode, max, spanMs, concurrency, ...(perSecond !== undefined && { perSecond }) }
}

/** The settings in effect: an override replaces the configured value. */
export function effectiveSettings(lane: Lane, controls: readonly Control[]): LaneSettings {
  const settings: Record<string, unknown> = { ...configuredSettings(lane) }
  for (const { kind, name, value } of controls)
    if (kind === 'setting') settings[name] = name === 'mode' ? value : Number(value)
  return settings as unknown as LaneSettings
}

/** The limits of a batch under these settings. */
export function batchLimits({ mode, max, spanMs }: LaneSettings): { readonly max: number; readonly spanMs: number } {
  return mode === 'single' ? { max: 1, spanMs: 0 } : { max, spanMs }
}
