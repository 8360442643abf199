// The text of the lanes, as `bellwire lanes` prints it.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { durationUnits, phraseDuration } from '../../../base/runtime/phrase-duration.ts'
import type { AnswerOf } from '../../../sides/admin/calls.ts'
import { textTable } from '../text-table.ts'

/** A lane of GET /admin/lanes. */
export type Lane = AnswerOf<'platform', 'GET /admin/lanes'>['lanes'][number]
export type Pause = Lane['pauses'][number]

/** The name of a setting in the options of the command: 'per-second'. */
export const labelOf = (setting: string): string => setting.replace(/_ms$/, '').replace('_', '-')

const columns = [
  { title: 'LANE' },
  { title: 'STATE' },
  { title: 'WAITING', align: 'right' },
  { title: 'OLDEST', align: 'right' },
  { title: 'IN CALLS', align: 'right' },
] as const

/** A table with one row for each lane. The lines under a row are its controls and its last error. */
export function phraseLanes(lanes: readonly Lane[]): string {
  if (lanes.length === 0) return 'There are no lanes. Add one to platform.lanes.'
  const rows = lanes.map(({ name, state, waiting, oldest_age_ms: ageMs, in_flight: inFlight }) => [
    name,
    state,
    String(waiting),
    waiting === 0 ? '-' : phraseTime(ageMs),
    String(inFlight),
  ])
  const details = lanes.map((lane) => detailsOf(lane).map((each) => `  ${each}`))
  return textTable(columns, rows, details)
}

function detailsOf(lane: Lane): string[] {
  const { settings, pauses, held_reason: heldReason, last_error: error, last_error_at: errorAt } = lane
  return [
    ...Object.entries(settings).flatMap(([name, { value, configured, override }]) => {
      if (!override) return []
      const values = `${phraseValue(name, value)} instead of ${phraseValue(name, configured)}`
      return [`${labelOf(name)} is ${values}, set by ${phraseAuthor(override)}`]
    }),
    ...pauses.map(phrasePause),
    ...(heldReason === undefined ? [] : [phraseHold(lane)]),
    ...(error === undefined || error === heldReason
      ? []
      : [`last error${errorAt === undefined ? '' : ` at ${phraseDate(errorAt)}`}: ${error}`]),
  ]
}

/** @example 'held for 3 min: connect ECONNREFUSED; next try in 25 s' */
export function phraseHold(lane: {
  readonly waiting?: number
  readonly held_for_ms: number
  readonly held_reason?: string | undefined
  readonly next_try_at?: number | undefined
}): string {
  const { waiting, held_for_ms: heldMs, held_reason: reason = 'the operator is unavailable', next_try_at: at } = lane
  const waitMs = (at ?? 0) - Date.now()
  const next =
    at === undefined
      ? ''
      : waitMs > 0
        ? `in ${phraseDuration(waitMs)}`
        : waiting === 0
          ? 'with the next message'
          : 'now'
  return `held for ${phraseDuration(heldMs)}: ${reason}${next && `; next try ${next}`}`
}

export function phrasePause({ scope, activity, action, held_back: items, ...author }: Pause): string {
  const part = activity !== undefined ? `activity ${activity}` : action !== undefined ? `action ${action}` : undefined
  const paused = part === undefined ? `the ${scope}` : `${part} of the ${scope}`
  const heldBack = part === undefined ? '' : `, ${phraseCount(items, 'message')} held back,`
  return `${paused} is paused${heldBack} by ${phraseAuthor(author)}`
}

function phraseValue(name: string, value: string | number | null): string {
  if (value === null) return 'no limit'
  return name === 'span_ms' ? `${value} ms` : String(value)
}

function phraseAuthor({ by, reason, since, until }: Omit<Pause, 'scope' | 'held_back'>): string {
  const end = until === undefined ? '' : ` until ${phraseDate(until)}`
  return `${by} since ${phraseDate(since)}${end}: ${reason}`
}

const phraseDate = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

/** @example phraseTime(5_400_000) // '1.5 h' */
export function phraseTime(ms: number): string {
  const [size, unit] = durationUnits.find(([size]) => ms >= size) ?? ([1, 'ms'] as const)
  return `${Math.round((10 * ms) / size) / 10} ${unit}`
}
