import type { Fault } from '../problem.ts'
import type { Config } from '../table.ts'
import { type ProfiledLane, remedy } from './apply-profiles.ts'

type Lane = NonNullable<Config['platform']>['lanes'][number]
type Checked = ProfiledLane & { readonly lane: Lane }

/** Checks that lanes keep within the limits of their profiles, also with settings of their own. */
export function checkProfiles(config: Config, profiled: readonly ProfiledLane[]): readonly Fault[] {
  const lanes = profiled.flatMap((each) => {
    const lane = config.platform?.lanes[each.index]
    return lane ? [{ ...each, lane }] : []
  })
  return [...lanes.flatMap(checkLane), ...checkRates(lanes)].map((found) => ({ remedy, ...found }))
}

function checkLane({ index, file, profile, key, lane }: Checked): readonly Fault[] {
  const { batch_max: batchMax, body_bytes: bodyBytes, answer_within_ms: answerMs } = profile
  const of = (name: string, description: string): Fault => ({ path: `platform.lanes[${index}].${name}`, description })
  return [
    !key.brands.includes(lane.brand) && of('brand', `${file} allows the brands ${key.brands.join(', ')} for this key`),
    !profile.channels.includes(lane.channel) && of('channel', `${file} has only ${profile.channels.join(', ')}`),
    !profile.modes.includes(lane.mode) && of('mode', `${file} has only ${profile.modes.join(', ')}`),
    lane.mode === 'batch' && lane.max > batchMax && of('max', `is more than the ${batchMax} messages of ${file}`),
    lane.bytes > bodyBytes && of('bytes', `is more than the ${bodyBytes} bytes of ${file}`),
    lane.timeoutMs <= answerMs && of('timeout', `is not longer than the ${answerMs} ms within which ${file} answers`),
  ].filter((found) => found !== false)
}

/** The lanes of a key together, and those of each of its brands, must keep its rates. */
function checkRates(lanes: readonly Checked[]): readonly Fault[] {
  return [...Map.groupBy(lanes, ({ file, key }) => `${file} ${key.fingerprint}`).values()].flatMap((ofKey) => {
    const [{ key }] = ofKey as [Checked]
    const ofBrands = [...Map.groupBy(ofKey, ({ lane }) => lane.brand).values()]
    return [
      ...checkSum(ofKey, key.rate?.per_second, `the key ${key.name}`),
      ...ofBrands.flatMap((ofBrand) =>
        checkSum(ofBrand, key.rate?.per_brand, `brand ${ofBrand[0]?.lane.brand} of the key ${key.name}`),
      ),
    ]
  })
}

function checkSum(lanes: readonly Checked[], rate: number | undefined, of: string): readonly Fault[] {
  const sum = lanes.reduce((total, { lane }) => total + (lane.perSecond ?? Number.POSITIVE_INFINITY), 0)
  if (rate === undefined || sum <= rate) return []
  const { index, file } = lanes.at(-1) as Checked
  const description = `the ${lanes.length} lanes with ${of} have ${sum} messages a second together, and ${file} allows ${rate}`
  return [{ path: `platform.lanes[${index}].per_second`, description, remedy: `lower per_second, or ${remedy}` }]
}
