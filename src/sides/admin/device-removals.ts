// /admin routes of the removal brake: its state, and the confirmation after a stop.

import { Type } from 'typebox'
import { HttpError } from '../../base/http/http-error.ts'
import { moment, whole } from '../../contract/documents/described.ts'
import type { RemovalKeeper } from '../../subjects/devices/removals/keeper.ts'
import { RemovalConfirmation } from './requests.ts'
import { adminRoute } from './route.ts'

const TallySchema = Type.Object({ sends: whole(), removals: whole() })

const ServiceState = Type.Object({
  service: Type.String(),
  stopped: Type.Boolean(),
  stopped_at: Type.Optional(moment('Time of the stop')),
  stopped_for: Type.Optional(TallySchema),
  allowed_until: Type.Optional(moment('Set by a confirmation: until this time, removals are not counted')),
  confirmed_by: Type.Optional(Type.String()),
  recent: TallySchema,
})

export function removalRoutes(removals: RemovalKeeper) {
  return {
    list: adminRoute({
      says: 'Shows for each push service how many devices were removed recently, and whether removals are stopped.',
      gives: Type.Object({ services: Type.Array(ServiceState) }),
      async handler() {
        return {
          services: removals
            .state()
            .map(({ service, stopped, stoppedAt, stoppedFor, allowedUntil, confirmedBy, recent }) => ({
              service,
              stopped,
              stopped_at: stoppedAt,
              stopped_for: stoppedFor,
              allowed_until: allowedUntil,
              confirmed_by: confirmedBy,
              recent,
            })),
        }
      },
    }),
    confirm: adminRoute({
      says: 'Confirms the removals of a push service: dead devices are removed again, for a while without counting.',
      body: RemovalConfirmation,
      gives: Type.Object({
        service: Type.String(),
        stopped: Type.Literal(false),
        for_minutes: Type.Number({ minimum: 1 }),
      }),
      refuses: { 409: 'Removals by this service are not stopped.' },
      async handler(request, key) {
        if (key.brands)
          throw new HttpError(
            403,
            `the key ${key.name} is limited to some brands, but a push service serves all brands: use a key without brands`,
          )
        const { service, for_minutes: forMinutes = 60 } = request.body
        if (!(await removals.confirm(service, key.name, forMinutes * 60_000, key.audit.ops)))
          throw new HttpError(
            409,
            `removals by ${service} are not stopped: GET /admin/devices/removals shows the state of each service`,
          )
        return { service, stopped: false as const, for_minutes: forMinutes }
      },
    }),
  }
}
