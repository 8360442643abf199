// The settings of a running side, and the reload of its configuration.

import { Type } from 'typebox'
import { HttpError } from '../../base/http/http-error.ts'
import type { Configuration } from '../../base/http/service.ts'
import { ConfigError } from '../../base/runtime/problem.ts'
import { moment, text } from '../../contract/documents/described.ts'
import { ReasonBody } from './requests.ts'
import { adminRoute } from './route.ts'
import { demandAllBrands } from './visibility.ts'

const paths = (description: string) => Type.Array(Type.String(), { description })

const applied = paths('The settings that changed and were applied')
const restart = paths('The settings that changed, but need a restart')

const Setting = Type.Object({
  setting: text('Its path, such as operator.port'),
  value: text('The value in effect; a secret is masked'),
  source: text('The file with the line, the environment variable, or default'),
  after_restart: Type.Optional(text('The value that a restart applies, if it differs')),
})

/** @param configuration of the process that answers: each process reads its own */
export const configurationRoutes = (configuration: Configuration) => ({
  show: adminRoute({
    says: 'Lists the settings of this process with their sources, without secrets, and the result of its latest reload.',
    gives: Type.Object({
      settings: Type.Array(Setting),
      reload: Type.Optional(
        Type.Object({
          at: moment('The time of the latest reload'),
          applied: Type.Optional(applied),
          restart: Type.Optional(restart),
          error: Type.Optional(text('Why nothing was changed')),
        }),
      ),
    }),
    async handler(_request, key) {
      demandAllBrands(key)
      return configuration.describe()
    },
  }),
  reload: adminRoute({
    says: 'Reads the configuration of this process again, and applies it, except for its addresses and stores. Requests that arrive meanwhile wait.',
    body: ReasonBody,
    gives: Type.Object({ applied, restart }),
    refuses: { 409: 'The new configuration is not valid: nothing was changed.' },
    async handler(_request, key) {
      demandAllBrands(key)
      try {
        return await configuration.reload()
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        await key.audit.record({ given: { refused: error.message } })
        throw new HttpError(409, `nothing was changed: ${error.message}`)
      }
    },
  }),
})
