// The route that lists the push services and providers of a side: whether each sends, and if not, why and until when.

import { Type } from 'typebox'
import { clock } from '../../base/runtime/clock.ts'
import { moment, text, whole } from '../../contract/documents/described.ts'
import type { Channel } from '../../subjects/providers/provider.ts'
import type { ServicePause, ServiceState } from '../../subjects/providers/service-state.ts'
import { adminRoute } from './route.ts'

/** The services of one channel. */
export interface ChannelServices {
  readonly channel: Channel
  states(): readonly ServiceState[]
}

const Paused = Type.Object(
  {
    reason: text('The error that paused it'),
    next_try_at: moment('The time from which the next message is tried'),
  },
  { description: 'Absent: it is not paused' },
)

const Service = Type.Object({
  service: text('The name of the credential in the configuration'),
  channel: Type.Enum(['push', 'site']),
  waiting: whole('Sends that wait, because the most sends are in flight, or for the rate'),
  paused: Type.Optional(Paused),
  counterparts: Type.Optional(
    Type.Array(
      Type.Object({
        name: text('An app, an environment with a topic, or the origin of a vendor'),
        accepted: Type.Boolean({ description: 'It accepted a send since this process began' }),
        paused: Type.Optional(Paused),
      }),
      {
        description:
          'The counterparts of the service that were sent to; each is paused by itself. Absent for a key that is bound to brands',
      },
    ),
  ),
})

export const listServices = (channels: readonly ChannelServices[]) =>
  adminRoute({
    says: 'Lists the push services and providers of this side, in this process: whether each is paused, why, and until when.',
    gives: Type.Object({ services: Type.Array(Service) }),
    async handler(_request, key) {
      const now = clock.now()
      const services = channels.flatMap(({ channel, states }) =>
        states().map(({ name, waiting, pause, counterparts }) => ({
          service: name,
          channel,
          waiting,
          paused: pausedAt(now, pause),
          // Origins of Web Push come from the users of all brands.
          counterparts: key.brands
            ? undefined
            : counterparts?.map((each) => ({
                name: each.name,
                accepted: each.accepted,
                paused: pausedAt(now, each.pause),
              })),
        })),
      )
      return { services }
    },
  })

const pausedAt = (now: number, pause: ServicePause | undefined) =>
  pause && { reason: pause.reason, next_try_at: now + Math.round(pause.restMs) }
