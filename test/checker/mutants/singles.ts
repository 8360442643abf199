// Faults in the answers to single messages, in ids, members and JSON, and in repetitions.

import { error, identifierNames, json, type Request, users } from '../plain-operator.ts'
import { after, before, isSingle, type Mutant, onSuccess } from './mutant.ts'

const isDelivered = onSuccess(isSingle)
const unknownMember = (record: object): boolean =>
  Object.keys(record).some((name) => !['activity', 'title', 'body'].includes(name))

export const singleMutants: readonly Mutant[] = [
  {
    fault: 'redirects after a delivery',
    check: 'single.status',
    mutate: () => after(isDelivered, () => ({ status: 302, headers: { location: '/done' }, body: [] })),
  },
  {
    fault: 'answers a delivery with a form instead of JSON',
    check: 'single.json',
    mutate: () => after(isDelivered, (answer) => ({ ...answer, body: ['push_id=1'] })),
  },
  {
    fault: 'names the identifier of site messages push_id',
    check: 'single.identifier',
    mutate: () =>
      after(isDelivered, (answer) => ({
        ...answer,
        body: answer.body.map((text) => text.replace(identifierNames.site, identifierNames.push)),
      })),
  },
  {
    fault: 'has one identifier for all single messages',
    check: 'single.identifier-unique',
    also: ['ids.distinct', 'repeat.channels', 'repeat.other-trigger', 'repeat.modes', 'time.in-flight'],
    mutate: () =>
      after(isDelivered, ({ body: [text = ''] }) =>
        json(200, { [text.includes('push_id') ? 'push_id' : 'site_notification_id']: 'same' }),
      ),
  },
  {
    fault: 'has identifiers of 300 characters',
    check: 'single.identifier-form',
    mutate: () => ({ rules: (correct) => ({ identifier: () => `${correct.identifier()}`.padEnd(300, 'x') }) }),
  },
  {
    fault: 'labels the answers to single messages as text',
    check: 'single.content-type',
    mutate: () => after(isDelivered, (answer) => ({ ...answer, headers: { 'content-type': 'text/plain' } })),
  },
  {
    fault: 'reads ids as floating-point numbers',
    check: 'ids.digits',
    mutate: () => ({ rules: () => ({ parse: (text) => JSON.parse(text) }) }),
  },
  {
    fault: 'identifies messages by their id as a floating-point number',
    check: 'ids.distinct',
    also: ['repeat.other-trigger'],
    mutate: () => ({
      rules: ({ idText }) => ({ key: (channel, record) => `${channel} ${Number(idText(record.activity.id))}` }),
    }),
  },
  {
    fault: 'refuses ids that are texts',
    check: 'ids.text',
    mutate: () => ({
      rules: ({ malformed }) => ({
        malformed: (record) =>
          typeof record?.activity?.id === 'string' ? 'activity.id must be an integer' : malformed(record),
      }),
    }),
  },
  {
    fault: 'requires activity_id',
    check: 'members.optional',
    mutate: () => ({
      rules: ({ malformed }) => ({
        malformed: (record) =>
          malformed(record) ?? (record.activity.activity_id === undefined ? 'activity_id is missing' : undefined),
      }),
    }),
  },
  {
    fault: 'refuses unknown members',
    check: 'members.unknown',
    mutate: () => ({
      rules: ({ malformed }) => ({
        malformed: (record) => malformed(record) ?? (unknownMember(record) ? 'an unknown member' : undefined),
      }),
    }),
  },
  {
    fault: 'finds the user with a pattern',
    check: 'json.layout',
    mutate: () => before(isPlain, ({ text }) => (/"user_id":"user-/.test(text) ? undefined : error(400, 'no user'))),
  },
  {
    fault: 'accepts only ASCII',
    check: 'json.unicode',
    mutate: () => before(isPlain, ({ text }) => (/^[\x00-\x7f]*$/.test(text) ? undefined : error(400, 'not ASCII'))),
  },
  {
    fault: 'answers 200 to a record without activity',
    check: 'malformed.not-delivered',
    mutate: () =>
      before(isSingle, ({ text }) => (text.includes('"activity"') ? undefined : json(200, { push_id: 'none' }))),
  },
  {
    fault: 'answers 500 to a body that is not JSON',
    check: 'malformed.final',
    mutate: () =>
      after(isMalformed, (answer) => (/not JSON/.test(answer.body.join('')) ? { ...answer, status: 500 } : answer)),
  },
  {
    fault: 'has a message in place of an error',
    check: 'malformed.error',
    mutate: () => after(isMalformed, () => json(400, { message: 'malformed' })),
  },
  {
    fault: 'answers 422 to malformed messages',
    check: 'malformed.status',
    mutate: () => after(isMalformed, (answer) => ({ ...answer, status: 422 })),
  },
  {
    fault: 'delivers single messages to blocked users',
    check: 'blocked.single',
    mutate: () => ({
      rules: ({ suppressed }) => ({
        suppressed: (channel, record, mode) =>
          mode === 'single' && record.activity.user_id === users.blocked
            ? undefined
            : suppressed(channel, record, mode),
      }),
    }),
  },
  {
    fault: 'answers 403 for blocked users',
    check: 'blocked.status',
    mutate: () =>
      after(
        (request, { body }) => isSingle(request) && body.join('').includes('blocked'),
        (answer) => ({ ...answer, status: 403 }),
      ),
  },
  {
    fault: 'answers 503 for users without a device',
    check: 'no-device.single',
    mutate: () =>
      after(
        (request, { body }) => isSingle(request) && body.join('').includes('no device'),
        (answer) => ({ ...answer, status: 503 }),
      ),
  },
  {
    fault: 'delivers each repetition of a single message',
    check: 'repeat.single',
    also: [
      'repeat.modes',
      'time.at-once',
      'time.in-flight',
      'time.cut-request',
      'time.cut-answer',
      'restart.identifier',
    ],
    mutate: () => {
      let n = 0
      return {
        rules: (correct) => ({
          key: (channel, record, mode) => `${correct.key(channel, record, mode)}${mode === 'single' ? n++ : ''}`,
        }),
      }
    },
  },
  {
    fault: 'stores the messages of both modes apart',
    check: 'repeat.modes',
    also: ['time.in-flight'],
    mutate: () => ({
      rules: (correct) => ({ key: (channel, record, mode) => `${mode}${correct.key(channel, record, mode)}` }),
    }),
  },
  {
    fault: 'takes a site message for a push with the same id',
    check: 'repeat.channels',
    also: ['repeat.other-trigger'],
    mutate: () => ({ rules: ({ idText }) => ({ key: (_, record) => idText(record.activity.id) }) }),
  },
  {
    fault: 'answers 200 when a refused message is repeated',
    check: 'repeat.failed',
    mutate: () => {
      const refused = new Set<string>()
      return after(
        (request, { status }) => isSingle(request) && status === 422,
        (answer, { text }) => {
          const isRepeated = refused.has(text)
          refused.add(text)
          return isRepeated ? json(200, { push_id: 'seen', site_notification_id: 'seen' }) : answer
        },
      )
    },
  },
  {
    fault: 'identifies messages by their id alone',
    check: 'repeat.other-trigger',
    mutate: () => ({
      rules: ({ idText }) => ({ key: (channel, record) => `${channel} ${idText(record.activity.id)}` }),
    }),
  },
]

const isPlain = (request: Request): boolean => isSingle(request) && !request.headers['content-encoding']

function isMalformed(request: Request, { status }: { status: number }): boolean {
  return isSingle(request) && status === 400
}
