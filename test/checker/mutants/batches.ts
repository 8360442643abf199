// Faults in the answers to batches.

import { error, json, users, type Value } from '../plain-operator.ts'
import { after, before, changeItems, type Items, isBatch, type Mutant, onSuccess } from './mutant.ts'

const countOf = (text: string): number => text.split('"activity":').length - 1

/** Answers 207 or the like if all messages of a batch were delivered. */
const isDelivered = (text: string): boolean =>
  /"failed":\[\],"fatal":\[\]/.test(text) && !/"successful":\[\]/.test(text)

export const batchMutants: readonly Mutant[] = [
  {
    fault: 'answers 202 to a batch that was delivered',
    check: 'batch.status',
    mutate: () =>
      after(onSuccess(isBatch), (answer) => (isDelivered(answer.body.join('')) ? { ...answer, status: 202 } : answer)),
  },
  {
    fault: 'answers an array of items',
    check: 'batch.json',
    mutate: () => changeItems(({ successful, failed, fatal }) => [...successful, ...failed, ...fatal]),
  },
  {
    fault: 'answers with results in place of the categories',
    check: 'batch.categories',
    mutate: () => changeItems(({ successful, failed, fatal }) => ({ results: [...successful, ...failed, ...fatal] })),
  },
  {
    fault: 'writes null for an empty category',
    check: 'batch.categories',
    mutate: () =>
      changeItems((items) =>
        Object.fromEntries(Object.entries(items).map(([name, list]) => [name, list.length > 0 ? list : null])),
      ),
  },
  {
    fault: 'leaves out empty categories',
    check: 'batch.empty-categories',
    mutate: () =>
      changeItems((items) => Object.fromEntries(Object.entries(items).filter(([, list]) => list.length > 0))),
  },
  {
    fault: 'returns ids as texts',
    check: 'batch.id',
    also: ['bad-item.form'],
    mutate: () => changeItems((items) => mapItems(items, (item) => ({ ...item, id: asText(item.id) }))),
  },
  {
    fault: 'returns no identifiers in batches',
    check: 'batch.identifier',
    mutate: () => changeItems((items) => ({ ...items, successful: items.successful.map(({ id }) => ({ id })) })),
  },
  {
    fault: 'has one identifier for all messages of a batch',
    check: 'batch.identifier-unique',
    mutate: () =>
      changeItems((items) => ({
        ...items,
        successful: items.successful.map(({ id }) => ({ ...items.successful[0], id })),
      })),
  },
  {
    fault: 'labels the answers to batches as text',
    check: 'batch.content-type',
    mutate: () => after(onSuccess(isBatch), (answer) => ({ ...answer, headers: { 'content-type': 'text/html' } })),
  },
  {
    fault: 'refuses batches of one message',
    check: 'batch.one',
    mutate: () =>
      before(isBatch, ({ text }) => (countOf(text) === 1 && text.startsWith('[') ? error(400, 'too few') : undefined)),
  },
  {
    fault: 'numbers the messages of each batch from 1',
    check: 'batch.identifier-new',
    also: ['repeat.modes', 'time.in-flight'],
    mutate: () =>
      changeItems((items) => ({
        ...items,
        successful: items.successful.map(({ id }, place) => ({ id, push_id: `message-${place + 1}` })),
      })),
  },
  {
    fault: 'returns no identifiers after the tenth message',
    check: 'size.identifiers',
    mutate: () =>
      changeItems((items) => ({
        ...items,
        successful: items.successful.map((item, place) => (place < 10 ? item : { id: item.id })),
      })),
  },
  {
    fault: 'repeats identifiers after the tenth message',
    check: 'size.identifiers',
    mutate: () =>
      changeItems((items) => ({
        ...items,
        successful: items.successful.map((item, place, all) => ({ ...all[place % 10], id: item.id })),
      })),
  },
  {
    fault: 'reports only the first four messages',
    check: 'absence.none',
    also: ['size.batch', 'bad-item.text'],
    mutate: () => changeItems((items) => ({ ...items, successful: items.successful.slice(0, 4) })),
  },
  {
    fault: 'reports a delivered message as fatal too',
    check: 'absence.once',
    mutate: () =>
      changeItems((items) =>
        items.successful.length < 5 ? items : { ...items, fatal: [...items.fatal, items.successful[0]] },
      ),
  },
  {
    fault: 'reports a message of another request',
    check: 'absence.foreign',
    mutate: () =>
      changeItems((items) =>
        items.successful.length < 5 ? items : { ...items, failed: [{ id: 1, error: 'no such user' }] },
      ),
  },
  {
    fault: 'reports a message twice if it is twice in the batch',
    check: 'absence.repeated',
    mutate: () =>
      changeItems((items, { text }) => {
        const isTwice = (id: Value): boolean => typeof id === 'number' && text.split(`"id":${id},`).length > 2
        return { ...items, successful: items.successful.flatMap((item) => (isTwice(item.id) ? [item, item] : [item])) }
      }),
  },
  {
    fault: 'refuses a batch with a malformed message',
    check: 'bad-item.status',
    mutate: () =>
      after(onSuccess(isBatch), (answer) => (/must be/.test(answer.body.join('')) ? error(400, 'bad') : answer)),
  },
  {
    fault: 'fails on an item that is null',
    check: 'bad-item.status',
    mutate: () => before(isBatch, ({ text }) => (/[[,]null[,\]]/.test(text) ? error(500, 'TypeError') : undefined)),
  },
  {
    fault: 'fails on an item whose activity is a text',
    check: 'bad-item.status',
    mutate: () => before(isBatch, ({ text }) => (text.includes('"activity":"') ? error(500, 'TypeError') : undefined)),
  },
  {
    fault: 'fails on an item whose user_id is an object',
    check: 'bad-item.status',
    mutate: () => before(isBatch, ({ text }) => (text.includes('"user_id":{') ? error(500, 'TypeError') : undefined)),
  },
  {
    fault: 'cannot store U+0000 in the trigger_hash of a batch',
    check: 'bad-item.text',
    mutate: () =>
      before(isBatch, ({ text }) =>
        /"trigger_hash":"[^"]*\\u0000/.test(text) ? error(500, 'invalid byte') : undefined,
      ),
  },
  {
    fault: 'fails all messages of a batch with a malformed one',
    check: 'bad-item.others',
    mutate: () =>
      changeItems((items) => {
        if (!items.failed.some((item) => /must be/.test(item.error))) return items
        const failed = [...items.successful, ...items.failed].map(({ id }) => ({ id, error: 'the batch is malformed' }))
        return { successful: [], failed, fatal: [] }
      }),
  },
  {
    fault: 'stops at the first item that is no object',
    check: 'bad-item.others',
    mutate: () =>
      changeItems((items, { text }) =>
        text.includes(',null,') ? { ...items, successful: items.successful.slice(0, 1) } : items,
      ),
  },
  {
    fault: 'refuses a batch if all its messages are malformed',
    check: 'bad-item.alone',
    mutate: () =>
      after(onSuccess(isBatch), (answer) => {
        const body = answer.body.join('')
        return /"successful":\[\].*user_id must be/.test(body) ? error(400, 'no message is valid') : answer
      }),
  },
  {
    fault: 'returns the ids of malformed messages as texts',
    check: 'bad-item.form',
    mutate: () =>
      changeItems((items) => ({
        ...items,
        failed: items.failed.map((item) => (/user_id/.test(item.error) ? { ...item, id: asText(item.id) } : item)),
      })),
  },
  {
    fault: 'reports a malformed message as failed and as fatal',
    check: 'bad-item.form',
    mutate: () =>
      changeItems((items) => ({
        ...items,
        fatal: [...items.fatal, ...items.failed.filter((item) => /user_id/.test(item.error))],
      })),
  },
  {
    fault: 'writes failed messages as an object by id',
    check: 'bad-item.form',
    also: ['bad-item.failed'],
    mutate: () =>
      changeItems((items) => {
        const isMalformed = items.failed.some((item) => /user_id/.test(item.error))
        return isMalformed
          ? { ...items, failed: Object.fromEntries(items.failed.map((item) => [item.id, item])) }
          : items
      }),
  },
  {
    fault: 'reports a malformed message as fatal',
    check: 'bad-item.failed',
    mutate: () => changeItems((items) => moveToFatal(items, /user_id must be/)),
  },
  {
    fault: 'gives no error for failed messages',
    check: 'bad-item.error',
    mutate: () => changeItems((items) => ({ ...items, failed: items.failed.map(({ id }) => ({ id })) })),
  },
  {
    fault: 'does not report messages with an invalid id',
    check: 'bad-item.id',
    mutate: () =>
      changeItems((items) => ({
        ...items,
        failed: items.failed.filter((item) => !(item.id === true && /activity\.id must/.test(item.error))),
      })),
  },
  {
    fault: 'delivers to blocked users in batches',
    check: 'blocked.batch',
    mutate: () => ({
      rules: ({ suppressed }) => ({
        suppressed: (channel, record, mode) =>
          mode === 'batch' && record.activity.user_id === users.blocked ? undefined : suppressed(channel, record, mode),
      }),
    }),
  },
  {
    fault: 'reports pushes to users without a device as fatal',
    check: 'no-device.batch',
    mutate: () => changeItems((items) => moveToFatal(items, /no device/)),
  },
  {
    fault: 'refuses empty batches',
    check: 'batch.empty',
    mutate: () => before(isBatch, ({ text }) => (text === '[]' ? error(400, 'an empty batch') : undefined)),
  },
  {
    fault: 'answers 200 to an object in place of a batch',
    check: 'batch.unreadable',
    mutate: () =>
      before(isBatch, ({ text }) =>
        text.startsWith('{"activity":') ? json(200, { successful: [], failed: [], fatal: [] }) : undefined,
      ),
  },
  {
    fault: 'refuses unreadable batches without an error',
    check: 'batch.error',
    mutate: () =>
      after(
        (request, { status }) => isBatch(request) && status === 400,
        (answer) => ({ ...answer, body: [] }),
      ),
  },
  {
    fault: 'reports the repetition of a batch as failed',
    check: 'repeat.batch',
    also: ['time.timeout', 'time.batch-at-once'],
    mutate: () => {
      const delivered = new Set<string>()
      return changeItems((items, { text }) => {
        const isRepeated = delivered.has(text)
        delivered.add(text)
        if (!isRepeated) return items
        return { ...items, successful: [], failed: items.successful.map(({ id }) => ({ id, error: 'a duplicate' })) }
      })
    },
  },
  {
    fault: 'refuses batches of more than 20 messages',
    check: 'size.batch',
    also: ['size.over'],
    mutate: () => before(isBatch, ({ text }) => (countOf(text) > 20 ? error(413, 'too many messages') : undefined)),
  },
  {
    fault: 'refuses batches above its maximum as a whole',
    check: 'size.over',
    mutate: () => before(isBatch, ({ text }) => (countOf(text) > 30 ? error(413, 'too many messages') : undefined)),
  },
]

function mapItems({ successful, failed, fatal }: Items, map: (item: Value) => Value): Items {
  return { successful: successful.map(map), failed: failed.map(map), fatal: fatal.map(map) }
}

const asText = (id: Value): Value => (typeof id === 'number' && id > 0 ? String(id) : id)

function moveToFatal({ successful, failed, fatal }: Items, error: RegExp): Items {
  const moves = (item: Value): boolean => error.test(item.error)
  return { successful, failed: failed.filter((item) => !moves(item)), fatal: [...fatal, ...failed.filter(moves)] }
}
