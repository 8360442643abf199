import type { Preset } from './description.ts'
import { onesignal } from './onesignal.ts'

export const presets: readonly Preset[] = [onesignal]
