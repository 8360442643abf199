// Faults in the answers to single messages, in ids, members and JSON, and in repetitions.

import { error, identifierNames, json, type Request, users, type Value } from '../plain-operator.ts'
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
    both: true,
    mutate: () =>
      after(isDelivered, (answer) => ({
        ...answer,
        body: answer.body.map((text) => text.replace(identifierNames.site, identifierNames.push)),
      })),
  },
  {
    fault: 'has one identifier for all single messages',
    check: 'single.identifier-unique',
    both: true,
    also: [
      'ids.distinct',
      'repeat.channels',
      'repeat.channels-equal',
      'repeat.other-trigger',
      'repeat.modes',
      'time.in-flight',
    ],
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
    fault: 'fails on an activity that is null',
    check: 'malformed.final',
    mutate: () => before(isSingle, ({ text }) => (text === '{"activity":null}' ? error(500, 'TypeError') : undefined)),
  },
  {
    fault: 'cannot store U+0000 in a title',
    check: 'malformed.text',
    mutate: () =>
      before(isSingle, ({ text }) => (/"title":"[^"]*\\u0000/.test(text) ? error(500, 'invalid byte') : undefined)),
  },
  {
    fault: 'cannot store a lone surrogate in a trigger_hash',
    check: 'malformed.text',
    mutate: () =>
      before(isSingle, ({ text }) => (/hash":"[^"]*\\ud800/.test(text) ? error(500, 'invalid text') : undefined)),
  },
  {
    fault: 'fails on bytes that are not UTF-8',
    check: 'malformed.text',
    mutate: () =>
      before(isPlain, ({ text }) => (text.includes('\ufffd') ? error(500, 'UnicodeDecodeError') : undefined)),
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
    fault: 'refuses messages to blocked users without an error',
    check: 'blocked.error',
    mutate: () =>
      after(
        (request, { body }) => isSingle(request) && body.join('').includes('blocked'),
        (answer) => ({ ...answer, body: ['{"message":"not sent"}'] }),
      ),
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
    also: ['repeat.modes', 'time.at-once', 'time.in-flight', 'time.cut-answer', 'restart.identifier'],
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
    both: true,
    also: ['repeat.other-trigger', 'repeat.channels-equal'],
    mutate: () => ({ rules: ({ idText }) => ({ key: (_, record) => idText(record.activity.id) }) }),
  },
  {
    fault: 'takes a site message for a push that is equal',
    check: 'repeat.channels-equal',
    both: true,
    mutate: () => ({ rules: (correct) => ({ key: (_, record, mode) => correct.key('push', record, mode) }) }),
  },
  {
    fault: 'answers 409 to a delivered message that comes again in a batch',
    check: 'repeat.modes',
    mutate: () => {
      const alone = new Set<string>()
      return {
        wrap: (next, rules) => async (request) => {
          const before = [...alone]
          const answer = await next(request)
          if (isSingle(request) && answer.status === 200) alone.add(request.text)
          if (request.method !== 'POST' || !request.path.endsWith('/batch') || answer.status !== 200) return answer
          const isAlone = (id: Value): boolean => before.some((text) => text.includes(`"id":${rules.idText(id)},`))
          const { successful, failed, fatal } = rules.parse(answer.body.join(''))
          const again = successful.filter((item: Value) => isAlone(item.id))
          return json(200, {
            successful: successful.filter((item: Value) => !again.includes(item)),
            failed: [...failed, ...again.map(({ id }: Value) => ({ id, error: 'a duplicate' }))],
            fatal,
          })
        },
      }
    },
  },
  {
    fault: 'answers 409 to a known id with another trigger_hash',
    check: 'repeat.other-trigger',
    mutate: () => {
      const hashes = new Map<string, string>()
      return before(isPlain, ({ path, text }) => {
        const number = /"id":(\d+)/.exec(text)?.[1]
        if (number === undefined) return undefined
        const id = `${path} ${number}`
        const hash = /"trigger_hash":"([^"]*)"/.exec(text)?.[1] ?? ''
        if (hashes.has(id) && hashes.get(id) !== hash) return error(409, 'a duplicate')
        hashes.set(id, hash)
        return undefined
      })
    },
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
