import { Type } from 'typebox'
import { HttpError } from '../../base/http/http-error.ts'
import type { Reloaded } from '../../base/http/service.ts'
import { ConfigError } from '../../base/runtime/problem.ts'
import { adminRoute } from './route.ts'

const paths = (description: string) => Type.Array(Type.String(), { description })

/** @param reload of the process that answers: each process reads its own configuration */
export const reloadRoute = (reload: () => Promise<Reloaded>) =>
  adminRoute({
    says: 'Reads the configuration of this process again, and applies its keys and log level.',
    gives: Type.Object({
      applied: paths('The settings that changed and were applied'),
      restart: paths('The settings that changed, but need a restart'),
    }),
    refuses: { 409: 'The new configuration is not valid: nothing was changed.' },
    async handler(_request, key) {
      if (key.brands) throw new HttpError(403, `the key ${key.name} is bound to brands: use a key without brands`)
      try {
        const { applied, restart } = await reload()
        return { applied: [...applied], restart: [...restart] }
      } catch (error) {
        throw error instanceof ConfigError ? new HttpError(409, `nothing was changed: ${error.message}`) : error
      }
    },
  })
