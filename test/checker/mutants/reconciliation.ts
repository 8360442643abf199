// Faults in the lists of users.

import { setTimeout as sleep } from 'node:timers/promises'
import { error, failingField, json, key, users, type Wrap, write } from '../plain-operator.ts'
import { after, before, changeList, isList, type Mutant } from './mutant.ts'

const emptyList = () => json(200, { users: [], timestamp: new Date().toISOString() })
const asks = (field: string) => (request: { readonly path: string; readonly text: string }) =>
  request.path === '/reconciliation' && request.text === write({ field })

export const reconciliationMutants: readonly Mutant[] = [
  {
    fault: 'has no source for a field that was agreed',
    check: 'reconciliation.source',
    mutate: () => before(asks('consent_push_notification'), () => error(501, 'no source')),
  },
  {
    fault: 'does not close the list',
    check: 'reconciliation.json',
    mutate: () => after(asks('excluded'), (answer) => ({ ...answer, body: answer.body.slice(0, -1) })),
  },
  {
    fault: 'writes user ids as numbers',
    check: 'reconciliation.users',
    mutate: () => changeList('excluded', (list) => ({ ...list, users: [7] })),
  },
  {
    fault: 'writes the time as the database does',
    check: 'reconciliation.timestamp',
    mutate: () =>
      changeList('excluded', (list) => ({ ...list, timestamp: list.timestamp.replace('T', ' ').slice(0, 19) })),
  },
  {
    fault: 'writes the local time as UTC',
    check: 'reconciliation.time',
    mutate: () =>
      changeList('excluded', (list) => ({ ...list, timestamp: new Date(Date.now() + 3_600_000).toISOString() })),
  },
  {
    fault: 'lists a user twice',
    check: 'reconciliation.ids',
    mutate: () => changeList('excluded', (list) => ({ ...list, users: [...list.users, ...list.users] })),
  },
  {
    fault: 'labels lists as text',
    check: 'reconciliation.content-type',
    mutate: () => after(asks('excluded'), (answer) => ({ ...answer, headers: { 'content-type': 'text/plain' } })),
  },
  {
    fault: 'leaves out the first blocked user',
    check: 'reconciliation.true',
    mutate: () => changeList('blocked', (list) => ({ ...list, users: list.users.slice(1) })),
  },
  {
    fault: 'lists all users as blocked',
    check: 'reconciliation.only-true',
    mutate: () => changeList('blocked', (list) => ({ ...list, users: [...list.users, users.normal] })),
  },
  {
    fault: 'lists the users of any consent',
    check: 'reconciliation.unknown-field',
    mutate: () => before(asks('consent_bellwire_check'), () => emptyList()),
  },
  {
    fault: 'answers fields without a source with an empty list',
    check: 'reconciliation.no-source',
    mutate: () => before(asks('active'), emptyList),
  },
  {
    fault: 'answers unknown fields with an empty list',
    check: 'reconciliation.unknown-field',
    mutate: () => before(asks('bellwire_check'), emptyList),
  },
  {
    fault: 'answers unknown fields with 400',
    check: 'reconciliation.not-implemented',
    mutate: () => before(asks('bellwire_check'), () => error(400, 'an unknown field')),
  },
  {
    fault: 'lists blocked users if no field is named',
    check: 'reconciliation.unreadable',
    mutate: () => before((request) => isList(request) && request.text === '{}', emptyList),
  },
  {
    fault: 'ends a list whose source failed like a complete one',
    check: 'reconciliation.error',
    mutate: () => changeList(failingField, ({ users }) => ({ users, timestamp: new Date().toISOString() })),
  },
  {
    fault: 'keeps a slot occupied when the caller leaves',
    check: 'reconciliation.cut',
    mutate: () => {
      let occupied = 0
      return {
        onSocket: (incoming, response) =>
          response.once('close', () => {
            if (incoming.url === '/reconciliation' && !response.writableFinished) occupied++
          }),
        wrap: (next) => async (request) => {
          if (!isList(request) || request.headers['x-api-key'] !== key) return next(request)
          return occupied >= 3 ? error(503, 'too many lists') : { ...(await next(request)), pauseMs: 20 }
        },
      }
    },
  },
  {
    fault: 'closes the connection of a caller that reads slowly',
    check: 'reconciliation.slow-reader',
    // The list is longer than the buffers of both ends: other checks of lists would take long.
    only: ['reconciliation.slow-reader', 'reconciliation.unknown-field', 'batch', 'single'],
    pace: { slow: 1_500 },
    mutate: () => {
      const many = Array.from({ length: 900_000 }, (_, n) => `player-${n}`)
      const text = write([users.blocked, ...many])
      return {
        onSocket: (incoming, response) => {
          if (incoming.url !== '/reconciliation') return
          let written = 0
          const timer = setInterval(() => {
            const isStuck = response.writableLength > 0 && response.socket?.bytesWritten === written
            written = response.socket?.bytesWritten ?? 0
            if (isStuck) response.destroy()
          }, 300).unref()
          response.once('close', () => clearInterval(timer))
        },
        ...before(asks('blocked'), () => ({
          ...emptyList(),
          body: [`{"users":${text},"timestamp":"${new Date().toISOString()}"}`],
        })),
      }
    },
  },
  {
    fault: 'shares a cursor between two lists at once',
    check: 'reconciliation.at-once',
    mutate: () => {
      let running = 0
      const wrap: Wrap = (next) => async (request) => {
        if (!isList(request)) return next(request)
        const isShared = running++ > 0
        await sleep(20)
        running--
        if (!isShared || !asks('blocked')(request)) return next(request)
        return json(200, { users: ['user-9'], timestamp: new Date().toISOString() })
      }
      return { wrap }
    },
  },
]
