// Before the first message: whether the operator can be reached, accepts the key, and which endpoints it offers.

import { isAbsent, isRefused, probe } from './operator/endpoints.ts'
import type { EndpointState } from './plan.ts'
import type { Sender } from './sender.ts'
import { type Feature, features, type Target, targetsOf } from './target.ts'
import { shownAnswer } from './verdict.ts'

/** The checker could not do its work. This is no finding about the operator. */
export class CouldNotRun extends Error {
  readonly remedy: string

  constructor(reason: string, remedy: string) {
    super(reason)
    this.remedy = remedy
  }
}

export interface Preflight {
  readonly endpoints: ReadonlyMap<Feature, EndpointState>
  /** Endpoints that are neither offered nor declared. */
  readonly notOffered: readonly Feature[]
}

/**
 * Probes each endpoint without sending a message.
 *
 * @param declared the endpoints that must be offered; undefined: those that are offered, but a channel with one mode must have both
 * @throws CouldNotRun if no endpoint can be checked
 */
export async function preflight(
  senderFor: (target: Target) => Sender,
  declared: readonly Feature[] | undefined,
): Promise<Preflight> {
  const found = new Map<Feature, EndpointState>()
  const shown: string[] = []
  for (const target of targetsOf('endpoint')) {
    if (declared && !declared.includes(target.feature)) continue
    const { answer, lost } = await probe(senderFor(target))
    if (!answer && lost?.blame !== 'operator')
      throw new CouldNotRun(`${target.feature}: ${lost?.detail ?? 'no answer'}`, reachRemedy)
    shown.push(`${target.feature}: ${answer ? shownAnswer(answer) : lost?.detail}`)
    found.set(target.feature, stateOf(answer?.status))
  }
  const states = new Set(found.values())
  if (!states.has('offered')) {
    const [reason, remedy] = states.has('refused')
      ? ['the operator refuses the API key', 'give the key that the operator issued: BELLWIRE_KEY or --key-file']
      : ['none of the endpoints of §4.1 exists below this address', 'check --url: it is {base_url}, without /channels']
    throw new CouldNotRun(`${reason}\n  ${shown.join('\n  ')}`, remedy)
  }
  if (declared) return { endpoints: found, notOffered: [] }
  const isWanted = (feature: Feature): boolean => {
    const channel = feature.split('.')[0]
    return features.some((other) => other.split('.')[0] === channel && found.get(other) !== 'absent')
  }
  return {
    endpoints: new Map([...found].filter(([feature]) => isWanted(feature))),
    notOffered: features.filter((feature) => !isWanted(feature)),
  }
}

/** @param status undefined: no answer to this request, although the operator answers others */
function stateOf(status: number | undefined): EndpointState {
  if (status === undefined) return 'offered'
  if (isAbsent(status)) return 'absent'
  return isRefused(status) ? 'refused' : 'offered'
}

export const reachRemedy =
  'check --url, the network, and the certificate (NODE_EXTRA_CA_CERTS names a file with your own authority)'
