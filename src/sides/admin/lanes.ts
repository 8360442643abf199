// The routes of lanes under /admin, on both sides: their state, and the controls of a running lane.

import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http.ts'
import type { ControlKey } from '../../base/queue/controls/controls.ts'
import { overrideOf, type SettingName, settingNames } from '../../base/queue/controls/lane-settings.ts'
import { pausesItems } from '../../base/queue/controls/paused-items.ts'
import type { LaneService } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import { closedObject, whole } from '../../contract/documents/described.ts'
import { findTargets, type LaneAdmin, noSuchLane } from './lane-target.ts'
import { actReason, laneName, PauseBody, ResumeBody, SettingsBody } from './requests.ts'
import { adminRoute } from './route.ts'
import { Lanes, showLanes } from './shown/lanes.ts'
import { isLaneVisible } from './visibility.ts'

/** The owner of a lane has its pauses in memory. */
const mostItemPauses = 1_000
/** The names of the settings in requests. */
const namesInRequests = {
  mode: 'mode',
  max: 'max',
  span_ms: 'spanMs',
  concurrency: 'concurrency',
  per_second: 'perSecond',
} as const satisfies Record<string, SettingName>

export function laneRoutes({ queue, lanes }: LaneAdmin) {
  return {
    list: adminRoute({
      says: 'Lists the lanes: waiting items, running calls, and why a lane is held or paused.',
      gives: Lanes,
      handler: async (_request, key) => showLanes(lanes().filter(({ name }) => isLaneVisible(key, name))),
    }),
    pause: adminRoute({
      says: 'Pauses a lane or all lanes of a brand, or in them the messages of one activity or action: running calls end, and no other call starts. A second pause of the same replaces the first.',
      body: PauseBody,
      gives: Lanes,
      refuses: { 404: noSuchLane, 409: 'There are too many pauses.' },
      async handler({ body }, key) {
        const { scope, targets } = findTargets(lanes, body, key)
        const pause = pauseOf(scope, body)
        await refuseTooMany(targets, pause)
        await queue.setControls([{ ...pause, ...noteOf(body, key) }], key.audit.ops())
        return showLanes(targets)
      },
    }),
    resume: adminRoute({
      says: 'Ends the pause of a lane, a brand, an activity or an action, and returns how many pauses ended. Other pauses of the same messages stay. With `now`, held lanes send their next message at once.',
      body: ResumeBody,
      gives: Type.Object({
        ended: whole(),
        tried: Type.Optional(Type.Array(Type.String(), { description: 'With `now`: the lanes that were held' })),
        ...Lanes.properties,
      }),
      refuses: { 404: noSuchLane },
      async handler({ body }, key) {
        const { scope, targets } = findTargets(lanes, body, key)
        const held = body.now ? await findHeld(targets) : undefined
        const ended = await queue.endControls([pauseOf(scope, body)], key.name, key.audit.ops())
        if (held) await queue.probeLanes(targets.map(({ name }) => name))
        return { ended: ended.length, ...(held && { tried: held }), ...(await showLanes(targets)) }
      },
    }),
    change: adminRoute({
      says: 'Changes settings of a running lane, in place of the configured values.',
      body: SettingsBody,
      gives: Lanes,
      refuses: { 404: noSuchLane },
      async handler({ body }, key) {
        const { targets } = findTargets(lanes, body, key)
        const [target] = targets as [LaneService]
        const { lane } = target
        const { mostPerCall = lane.max } = lane
        if ((body.settings.max ?? 1) > mostPerCall)
          throw new HttpError(
            400,
            `settings.max is ${body.settings.max}: lane ${lane.name} sends at most ${mostPerCall} messages in a request`,
          )
        const author = noteOf(body, key)
        const old = await readSettings(target)
        await queue.setControls(
          Object.entries(body.settings).map(([name, value]) => ({
            ...overrideOf(lane.name, namesInRequests[name as keyof typeof namesInRequests]),
            value: String(value),
            ...author,
          })),
          key.audit.ops({ old }),
        )
        return showLanes(targets)
      },
    }),
    reset: adminRoute({
      says: 'Returns settings of a lane to their configured values, and returns how many were changed.',
      body: closedObject({
        lane: laneName,
        settings: Type.Optional(
          Type.Array(Type.Enum(Object.keys(namesInRequests) as (keyof typeof namesInRequests)[]), {
            description: 'The settings. Default: all of them.',
          }),
        ),
        ...actReason,
      }),
      gives: Type.Object({ ended: whole(), ...Lanes.properties }),
      refuses: { 404: noSuchLane },
      async handler({ body }, key) {
        const { targets } = findTargets(lanes, body, key)
        const old = await readSettings(targets[0] as LaneService)
        const names = body.settings?.map((name) => namesInRequests[name]) ?? settingNames
        const ended = await queue.endControls(
          names.map((name) => overrideOf(body.lane, name)),
          key.name,
          key.audit.ops({ old }),
        )
        return { ended: ended.length, ...(await showLanes(targets)) }
      },
    }),
  }
}

/** What a request pauses or resumes: everything of the scope, one activity or one action. */
function pauseOf(
  scope: string,
  { activity, action }: { readonly activity?: string; readonly action?: string },
): ControlKey {
  if (activity !== undefined && action !== undefined)
    throw new HttpError(400, 'send either activity or action: a pause holds back the messages of one of them')
  if (activity !== undefined) return { scope, kind: 'activity', name: activity }
  if (action !== undefined) return { scope, kind: 'action', name: action }
  return { scope, kind: 'pause', name: '' }
}

async function refuseTooMany(targets: readonly LaneService[], pause: ControlKey): Promise<void> {
  if (!pausesItems(pause)) return
  const { controls } = await (targets[0] as LaneService).state()
  if (controls.filter(pausesItems).length >= mostItemPauses)
    throw new HttpError(
      409,
      `there are ${mostItemPauses} pauses of activities and actions already: resume some, or pause the lane`,
    )
}

/** The settings in effect, by their names in requests. */
async function readSettings({ state }: LaneService): Promise<Readonly<Record<string, unknown>>> {
  const { settings } = await state()
  return Object.fromEntries(Object.entries(namesInRequests).map(([name, setting]) => [name, settings[setting]]))
}

/** The lanes that are held, as far as this process knows: only the owner of a lane does. */
async function findHeld(lanes: readonly LaneService[]): Promise<string[]> {
  const states = await Promise.all(lanes.map(({ state }) => state()))
  return states
    .filter(({ nextTryAt, state }) => nextTryAt !== undefined || state === 'elsewhere')
    .map(({ name }) => name)
}

/** The author, the reason and the expiry of a change. */
function noteOf({ reason, for_seconds: seconds }: { reason: string; for_seconds?: number }, { name: by }: AccessKey) {
  return { by, reason, ...(seconds !== undefined && { expiresAt: clock.now() + seconds * 1_000 }) }
}
