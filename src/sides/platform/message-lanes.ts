// The lanes of messages, which change while the platform runs. A lane has its providers, and the poller of its statuses.

import { laneName } from '../../base/queue/lane-name.ts'
import { createLaneSet, type LaneSet } from '../../base/queue/lane-set.ts'
import type { Lanes } from '../../base/queue/queue.ts'
import type { Conversions } from '../../subjects/conversions/conversions.ts'
import type { Provider } from '../../subjects/providers/provider.ts'
import { deliverLane, providersOf } from './deliver-lane.ts'
import type { RecordRules } from './new-item.ts'
import type { LaneOptions } from './options.ts'
import type { OwnDelivery } from './own-delivery.ts'

export interface MessageLanes extends Pick<LaneSet<LaneOptions>, 'list' | 'start' | 'stop'> {
  /** The settings of a lane that concern a record. Undefined: no lane has this name. */
  rulesOf(lane: string): RecordRules | undefined
  /** Serves these lanes from now on. A lane that is the same object as before goes on. @throws before it changes anything */
  replace(lanes: readonly LaneOptions[]): void
}

interface Parts extends Pick<Conversions, 'createPoller'> {
  readonly queue: Lanes
  readonly own: OwnDelivery | undefined
}

export function createMessageLanes({ queue, own, createPoller }: Parts, lanes: readonly LaneOptions[]): MessageLanes {
  const uses = new Map<Provider, number>()
  let options: ReadonlyMap<string, LaneOptions> = new Map()
  const served = createLaneSet<LaneOptions>((lane, name) => {
    const providers = providersOf(lane, own)
    const each = [...new Set(Object.values(providers))]
    for (const provider of each) uses.set(provider, (uses.get(provider) ?? 0) + 1)
    const service = deliverLane(queue, lane, providers)
    const poller = lane.status?.poll && createPoller(name, lane.status.poll)
    return {
      ...service,
      start() {
        service.start()
        poller?.start()
      },
      async stop(withinMs) {
        await Promise.all([poller?.stop(), service.stop(withinMs)])
        await Promise.all(each.map(release))
      },
    }
  })

  /** Lanes may share a provider of a module. */
  async function release(provider: Provider): Promise<void> {
    const left = (uses.get(provider) as number) - 1
    uses.set(provider, left)
    if (left > 0) return
    uses.delete(provider)
    await provider.close?.()
  }

  function replace(next: readonly LaneOptions[]): void {
    const wanted = new Map(next.map((lane) => [laneName(lane.brand, lane.channel), lane]))
    served.replace(wanted)
    options = wanted
  }

  replace(lanes)
  return { list: served.list, start: served.start, stop: served.stop, rulesOf: (lane) => options.get(lane), replace }
}
