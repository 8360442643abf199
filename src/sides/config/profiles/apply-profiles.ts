// Lanes with a profile (`profile: operator-profile.json`): settings that the lane does not have come from the profile.

import { basename, resolve } from 'node:path'
import { defaultsOf } from '../../../base/runtime/setting.ts'
import { fingerprintOf, type IntegrationProfile, type ProfileKey } from '../../../contract/integration-profile.ts'
import { laneSettings } from '../../../subjects/settings/platform.ts'
import type { Problem } from '../problem.ts'
import { emptyMap, type Origin, type Raw } from '../raw.ts'
import { readProfileFile } from './read-file.ts'

type RawMap = Raw & { readonly type: 'map' }

/** A lane with its profile, and the key of the profile that it uses. */
export interface ProfiledLane {
  /** The index of the lane. */
  readonly index: number
  /** The name of the file. */
  readonly file: string
  readonly profile: IntegrationProfile
  readonly key: ProfileKey
}

/** A lane that is not validated yet. */
interface RawLane extends ProfiledLane {
  readonly lane: RawMap
  readonly to: RawMap
}

export const remedy = 'ask the operator for a new profile: bellwire operator profile'

/**
 * Adds the settings of the profiles to the lanes. What a lane has itself is not changed.
 *
 * @param raw the whole configuration
 * @returns the lanes whose profile was applied
 */
export async function applyProfiles(raw: Raw, problems: Problem[]): Promise<readonly ProfiledLane[]> {
  const lanes: RawLane[] = []
  for (const [index, lane] of lanesOf(raw).entries()) {
    const read = lane.type === 'map' ? await readLane(index, lane, problems) : undefined
    if (read) lanes.push(read)
  }
  const rates = lanes.map((each) => rateOf(each, lanes))
  for (const [i, each] of lanes.entries()) addSettings(each, rates[i])
  return lanes
}

function lanesOf(raw: Raw): readonly Raw[] {
  const platform = raw.type === 'map' ? raw.entries.get('platform')?.value : undefined
  const lanes = platform?.type === 'map' ? platform.entries.get('lanes')?.value : undefined
  return lanes?.type === 'list' ? lanes.items : []
}

async function readLane(index: number, lane: RawMap, problems: Problem[]): Promise<RawLane | undefined> {
  const written = lane.entries.get('profile')?.value
  if (written?.type !== 'text') return undefined
  const path = `platform.lanes[${index}]`
  const { where, base } = written.origin
  const refuse = (of: string, description: string, how: string): undefined =>
    void problems.push({ path: `${path}.${of}`, where, description, remedy: how })
  const profile = await readProfileFile(resolve(base, written.text))
  const file = basename(written.text)
  if (typeof profile === 'string') return refuse('profile', `${file} cannot be used: ${profile}`, remedy)
  const to = lane.entries.get('to')?.value ?? emptyMap(lane.origin)
  if (to.type !== 'map' || to.entries.has('module'))
    return refuse('profile', 'a profile is for an operator, not for your own module', 'remove profile')
  const apiKey = to.entries.get('api_key')?.value
  if (apiKey?.type !== 'text')
    return refuse(
      'to.api_key',
      'missing; the profile has only its fingerprint',
      'set the API key that the operator issued',
    )
  const fingerprint = fingerprintOf(apiKey.text)
  const key = profile.keys.find((each) => each.fingerprint === fingerprint)
  if (!key) {
    const known = profile.keys.map((each) => `${each.fingerprint} (${each.name})`).slice(0, 10)
    const description = `its fingerprint ${fingerprint} is not in ${file}, which has ${known.join(', ')}`
    return refuse('to.api_key', description, `set a key that the operator issued with this profile, or ${remedy}`)
  }
  lane.entries.set('to', { origin: to.origin, value: to })
  return { index, file, profile, key, lane, to }
}

function addSettings({ lane, to, file, profile }: RawLane, perSecond: number | undefined): void {
  const origin = { where: file, base: lane.origin.base }
  const { modes, batch_max: batchMax, body_bytes: bodyBytes, answer_within_ms: answerMs } = profile
  add(to, 'provider', 'operator-api', origin)
  add(to, 'url', profile.base_url, origin)
  add(lane, 'mode', modes.includes('batch') ? 'batch' : 'single', origin)
  add(lane, 'max', textOf(lane, 'mode') === 'single' ? 1 : Math.min(ourDefaults.max, batchMax), origin)
  add(lane, 'bytes', `${Math.min(ourDefaults.bytes, bodyBytes)}B`, origin)
  add(lane, 'concurrency', Math.min(ourDefaults.concurrency, profile.concurrency), origin)
  add(lane, 'timeout', `${Math.max(ourDefaults.timeoutMs, answerMs + marginMs)}ms`, origin)
  if (perSecond !== undefined) add(lane, 'per_second', perSecond, origin)
}

/** A profile lowers the defaults of a lane, but does not raise them. */
const ourDefaults = defaultsOf(laneSettings)
/** The platform waits this much longer than the operator needs at most. */
const marginMs = 10_000

/** The rate of a lane: the lanes of one key share its rate equally, and the lanes of one brand that of the brand. */
function rateOf({ lane, file, key }: RawLane, lanes: readonly RawLane[]): number | undefined {
  const brand = textOf(lane, 'brand')
  const ofKey = lanes.filter((each) => each.file === file && each.key.fingerprint === key.fingerprint)
  const ofBrand = ofKey.filter((each) => textOf(each.lane, 'brand') === brand)
  const shares = [
    [key.rate?.per_second, ofKey],
    [key.rate?.per_brand, ofBrand],
  ] as const
  const found = shares.flatMap(([rate, sharing]) => (rate === undefined ? [] : [equalShare(rate, sharing)]))
  return found.length === 0 ? undefined : Math.min(...found)
}

/** What the lanes with a rate of their own leave of the rate, divided among the others. */
function equalShare(rate: number, lanes: readonly RawLane[]): number {
  const own = lanes.flatMap(({ lane }) => textOf(lane, 'per_second') ?? [])
  const left = own.reduce((rest, text) => rest - (/^\d+$/.test(text) ? Number(text) : 0), rate)
  // If nothing is left, checkProfiles() refuses the lanes.
  return Math.max(1, Math.floor(left / Math.max(1, lanes.length - own.length)))
}

function textOf(map: RawMap, name: string): string | undefined {
  const value = map.entries.get(name)?.value
  return value?.type === 'text' ? value.text : undefined
}

function add(map: RawMap, name: string, value: string | number, origin: Origin): void {
  if (!map.entries.has(name)) map.entries.set(name, { origin, value: { type: 'text', text: String(value), origin } })
}
