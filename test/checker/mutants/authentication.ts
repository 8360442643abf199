// Faults in the authentication.

import { error, key, type Request } from '../plain-operator.ts'
import type { Mutant } from './mutant.ts'

const keyOf = ({ headers }: Request): string => String(headers['x-api-key'] ?? '')
const isSend = ({ path }: Request): boolean => path.startsWith('/channels')

export const authenticationMutants: readonly Mutant[] = [
  {
    fault: 'has another key for push batches',
    check: 'auth.accepted',
    mutate: () => ({
      rules: ({ authenticate }) => ({
        authenticate: (request) => request.path !== '/channels/push/batch' && authenticate(request),
      }),
    }),
  },
  {
    fault: 'accepts requests without a key',
    check: 'auth.required',
    mutate: () => ({
      rules: ({ authenticate }) => ({
        authenticate: (request) =>
          (isSend(request) && request.headers['x-api-key'] === undefined) || authenticate(request),
      }),
    }),
  },
  {
    fault: 'compares only as many characters as were sent',
    check: 'auth.wrong-key',
    mutate: () => ({
      rules: ({ authenticate }) => ({
        authenticate: (request) =>
          (isSend(request) && keyOf(request) !== '' && key.startsWith(keyOf(request))) || authenticate(request),
      }),
    }),
  },
  {
    fault: 'has no key in its configuration, and accepts an empty one',
    check: 'auth.wrong-key',
    mutate: () => ({
      rules: ({ authenticate }) => ({
        authenticate: (request) => (isSend(request) && request.headers['x-api-key'] === '') || authenticate(request),
      }),
    }),
  },
  {
    fault: 'compares keys without upper and lower case',
    check: 'auth.wrong-key',
    mutate: () => ({
      rules: ({ authenticate }) => ({
        authenticate: (request) =>
          (isSend(request) && keyOf(request).toLowerCase() === key.toLowerCase()) || authenticate(request),
      }),
    }),
  },
  {
    fault: 'answers 403 to a wrong key',
    check: 'auth.status',
    mutate: () => ({
      wrap: (next) => async (request) => {
        const answer = await next(request)
        return answer.status === 401 ? { ...answer, status: 403 } : answer
      },
    }),
  },
  {
    fault: 'answers 401 without a body to a wrong key',
    check: 'auth.error',
    also: ['auth.status'],
    mutate: () => ({
      wrap: (next) => async (request) => {
        const answer = await next(request)
        return answer.status === 401 ? { ...answer, body: [] } : answer
      },
    }),
  },
  {
    fault: 'reads the header of the key by its exact spelling',
    check: 'auth.header-name',
    mutate: () => ({
      rules: ({ authenticate }) => ({
        authenticate: (request) => request.rawHeaders.includes('X-Api-Key') && authenticate(request),
      }),
    }),
  },
  {
    fault: 'parses the body before it checks the key',
    check: 'auth.first',
    mutate: () => ({
      wrap: (next) => async (request) =>
        isSend(request) && isCut(request.text) ? error(400, 'not JSON') : next(request),
    }),
  },
  {
    fault: 'does not check the key of reconciliation',
    check: 'auth.reconciliation',
    mutate: () => ({
      rules: ({ authenticate }) => ({ authenticate: (request) => !isSend(request) || authenticate(request) }),
    }),
  },
  {
    fault: 'locks out an address after four wrong keys in a row',
    check: 'auth.no-lockout',
    mutate: () => {
      let path = ''
      let wrong = 0
      return {
        rules: ({ authenticate }) => ({
          authenticate: (request) => {
            const isRight = authenticate(request) && !(wrong >= 4 && request.path === path)
            wrong = keyOf(request).includes('wrong') ? (request.path === path ? wrong + 1 : 1) : 0
            path = request.path
            return isRight
          },
        }),
      }
    },
  },
]

const isCut = (text: string): boolean => text === '{"activity"'
