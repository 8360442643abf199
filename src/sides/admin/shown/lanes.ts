// Lanes as /admin shows them.

import { type Static, type TSchema, Type } from 'typebox'
import type { Control } from '../../../base/queue/controls/controls.ts'
import { configuredSettings, type SettingName } from '../../../base/queue/controls/lane-settings.ts'
import type { LaneService, LaneSettings, LaneState } from '../../../base/queue/queue.ts'
import { present } from '../../../base/runtime/present.ts'
import { StoreUnavailable } from '../../../base/store/store-unavailable.ts'
import { moment, nullable, text, whole } from '../../../contract/documents/described.ts'

const author = {
  by: text('The name of the key; bellwire if the lane paused itself'),
  reason: Type.String(),
  since: moment('The time of the change'),
  until: Type.Optional(moment('The time at which the change ends by itself')),
}

const Setting = <Value extends TSchema>(value: Value) =>
  Type.Object({
    value,
    configured: value,
    override: Type.Optional(Type.Object(author, { description: 'Present if a person changed the setting' })),
  })

/** A lane, as /admin shows it. */
export const ShownLane = Type.Object({
  name: Type.String(),
  waiting: whole(),
  oldest_age_ms: whole('The age of the oldest waiting item'),
  owned: Type.Boolean({ description: 'Whether this process owns the lane' }),
  state: Type.Enum(['running', 'held', 'paused', 'elsewhere']),
  held_for_ms: whole(),
  held_reason: Type.Optional(text('Why the lane is held, in the words of the answer')),
  next_try_at: Type.Optional(moment('When a held lane sends its next message, if one waits')),
  in_flight: whole('The number of items in running calls'),
  last_error: Type.Optional(Type.String()),
  last_error_at: Type.Optional(moment('The time of the last error')),
  settings: Type.Object(
    {
      mode: Setting(Type.Enum(['single', 'batch'])),
      max: Setting(whole()),
      span_ms: Setting(Type.Number()),
      concurrency: Setting(whole()),
      per_second: Setting(nullable(Type.Number())),
    },
    {
      description: 'The settings that can be changed while the lane runs: the value in effect and the configured value',
    },
  ),
  pauses: Type.Array(
    Type.Object({
      scope: Type.Enum(['lane', 'brand'], {
        description: 'Whether it applies to this lane, or to all lanes of its brand',
      }),
      activity: Type.Optional(text('Only the messages of this activity_id')),
      action: Type.Optional(text('Only the messages of this action_id')),
      held_back: whole(
        'The number of waiting messages that this pause holds back. For an activity or action: those that the owner of the lane has read and set aside',
      ),
      ...author,
    }),
  ),
})

export const Lanes = Type.Object({
  lanes: Type.Array(ShownLane),
  unavailable: Type.Optional(
    Type.Array(Type.String(), { description: 'The names of the lanes whose store does not answer now' }),
  ),
})

/** Reads and shows the state of these lanes. Rejects if no store answers. */
export async function showLanes(lanes: readonly LaneService[]): Promise<Static<typeof Lanes>> {
  const read = await Promise.allSettled(
    lanes.map(async ({ lane, state }) => showLane(configuredSettings(lane), await state())),
  )
  const shown = read.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  for (const each of read)
    if (each.status === 'rejected' && (shown.length === 0 || !(each.reason instanceof StoreUnavailable)))
      throw each.reason
  const unavailable = lanes.filter((_, i) => read[i]?.status === 'rejected').map(({ name }) => name)
  return { lanes: shown, ...(unavailable.length > 0 && { unavailable }) }
}

function showLane(
  configured: LaneSettings,
  {
    oldestAgeMs,
    heldForMs,
    heldReason,
    nextTryAt,
    inFlight,
    lastError,
    lastErrorAt,
    controls,
    heldBack,
    settings,
    ...lane
  }: LaneState,
): Static<typeof ShownLane> {
  const ofSetting = (name: SettingName) => {
    const override = controls.find((control) => control.kind === 'setting' && control.name === name)
    return override ? { override: showAuthor(override) } : {}
  }
  const show = <Name extends Exclude<SettingName, 'perSecond'>>(name: Name) => ({
    value: settings[name],
    configured: configured[name],
    ...ofSetting(name),
  })
  return {
    ...lane,
    oldest_age_ms: oldestAgeMs,
    held_for_ms: heldForMs,
    in_flight: inFlight,
    ...present({ held_reason: heldReason, next_try_at: nextTryAt, last_error: lastError, last_error_at: lastErrorAt }),
    settings: {
      mode: show('mode'),
      max: show('max'),
      span_ms: show('spanMs'),
      concurrency: show('concurrency'),
      per_second: {
        value: settings.perSecond ?? null,
        configured: configured.perSecond ?? null,
        ...ofSetting('perSecond'),
      },
    },
    pauses: controls
      .filter(({ kind }) => kind !== 'setting')
      .map((control) => ({
        scope: control.scope === lane.name ? 'lane' : 'brand',
        ...(control.kind !== 'pause' && { [control.kind]: control.name }),
        held_back: heldBack.get(control.id) ?? lane.waiting,
        ...showAuthor(control),
      })),
  }
}

function showAuthor({ by, reason, at, expiresAt }: Control) {
  return { by, reason, since: at, ...(expiresAt !== undefined && { until: expiresAt }) }
}
