// The removal brake, as people see it: what was stopped, and the confirmation that lets it go on.

import { Type } from 'typebox'
import { json, moment, whole } from '../contract/documents/described.ts'
import type { RemovalKeeper } from '../delivery/removal-keeper.ts'
import { type AdminRoute, jsonObject } from '../runtime/admin-access.ts'
import { HttpError } from '../runtime/http.ts'

const mostMinutes = 1_440

const Counted = Type.Object({ sends: whole(), removals: whole() })

const Service = Type.Object({
  service: Type.String(),
  stopped: Type.Boolean(),
  stopped_at: Type.Optional(moment('When')),
  stopped_for: Type.Optional(Counted),
  allowed_until: Type.Optional(moment('Confirmed: until then nothing is counted')),
  confirmed_by: Type.Optional(Type.String()),
  lately: Counted,
})

export function removalRoutes(removals: RemovalKeeper): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      url: '/admin/devices/removals',
      scope: 'read',
      says: 'Shows for each push service how many devices were removed lately, and whether removing is stopped.',
      gives: json(Type.Object({ services: Type.Array(Service) })),
      async handler() {
        return {
          services: removals
            .state()
            .map(({ service, stopped, stoppedAt, stoppedFor, allowedUntil, confirmedBy, lately }) => ({
              service,
              stopped,
              stopped_at: stoppedAt,
              stopped_for: stoppedFor,
              allowed_until: allowedUntil,
              confirmed_by: confirmedBy,
              lately,
            })),
        }
      },
    },
    {
      method: 'POST',
      url: '/admin/devices/removals/confirm',
      scope: 'manage',
      says: 'Lets a push service whose removals were stopped go on removing, for so long.',
      body: json(
        Type.Object({
          service: Type.String(),
          for_minutes: Type.Optional(Type.Number({ minimum: 1, maximum: mostMinutes, default: 60 })),
        }),
      ),
      gives: json(
        Type.Object({ service: Type.String(), stopped: Type.Literal(false), for_minutes: Type.Number({ minimum: 1 }) }),
      ),
      refuses: { 409: 'Removals by this service are not stopped.' },
      async handler(request, key) {
        if (key.brands)
          throw new HttpError(
            403,
            `the key ${key.name} is for some brands only, and a push service is for all: use another`,
          )
        const { service, for_minutes: forMinutes = 60 } = jsonObject(request)
        if (typeof service !== 'string')
          throw new HttpError(
            400,
            'service must be the name of a push service, as GET /admin/devices/removals lists it',
          )
        if (typeof forMinutes !== 'number' || !(forMinutes >= 1 && forMinutes <= mostMinutes))
          throw new HttpError(
            400,
            `for_minutes must be from 1 to ${mostMinutes}: dead devices are removed for so long without counting`,
          )
        if (!(await removals.confirm(service, key.name, forMinutes * 60_000)))
          throw new HttpError(409, `removals by ${service} are not stopped: GET /admin/devices/removals shows what is`)
        return { service, stopped: false, for_minutes: forMinutes }
      },
    },
  ]
}
