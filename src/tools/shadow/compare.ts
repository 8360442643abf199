// Compares the answers of two operators to the same request: their consequence at the platform (§7) and their form (§2, §4). Pure:
// differences go to a tally. Not compared are identifiers, texts of errors, the order of items, and the decisions of
// docs/open-points.md, which the interface leaves free.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type Channel, identifierOf, type SendEndpoint } from '../../contract/endpoints.ts'
import { messageKey } from '../../contract/message-key.ts'
import type { Category } from '../../contract/outcome.ts'
import { type ReadItem, readBatch, readSingle } from '../../contract/read-activity.ts'
import { readSingleBody, type StatedReason } from '../../contract/single-body.ts'
import { unstorable } from '../../contract/storable.ts'
import type { Answer } from '../checker/exchange.ts'
import {
  categories,
  errorOf,
  identifierIn,
  objectOf,
  type ReportedItem,
  reportedItems,
  singleOutcome,
  valueOfId,
} from '../checker/read-answer.ts'
import { shownAnswer } from '../checker/verdict.ts'
import { compareLists } from './compare-lists.ts'
import { contentTypes, isJson } from './content-type.ts'
import { createIdentities } from './identities.ts'
import type { Seen, Tally } from './tally.ts'
import { createUnsettled } from './unsettled.ts'

/** A request, with the answers of the operator in production and of Bellwire. */
export interface Copy {
  /** Epoch milliseconds. */
  readonly at: number
  /** 'reconciliation', or the send endpoint. */
  readonly endpoint: SendEndpoint | 'reconciliation'
  readonly request: Buffer
  readonly operator: Answer
  readonly bellwire: Answer
}

export interface Comparison {
  compare(copy: Copy): void
  /** Called once, after the last copy: reports the messages without a final answer. */
  end(): void
}

/** One message, as both answered it. */
interface Pair {
  readonly item: ReadItem
  readonly operator: Category
  readonly bellwire: Category
  /** Why Bellwire refused it. */
  readonly reason: StatedReason | undefined
  /** JSON. */
  readonly identifier: string | undefined
  /** The request of the message. */
  readonly request: Buffer
  readonly seen: Seen
}

export function createComparison(tally: Tally): Comparison {
  const identities = createIdentities()
  const unsettled = createUnsettled<Pair & { readonly channel: Channel; readonly mode: 'single' | 'batch' }>()

  function compare(copy: Copy): void {
    const { endpoint, operator, bellwire } = copy
    tally.countRequest()
    const seen = seenIn(copy)
    if (isRefusedKey(operator) || isRefusedKey(bellwire)) {
      // A 403 may be about the user: the platform drops the message, as after Bellwire's 422.
      if (!isRefusal(operator) || !isRefusal(bellwire)) tally.add('key', seen)
    } else if (endpoint === 'reconciliation') compareLists(copy, seen, tally)
    else if (endpoint.mode === 'single') compareSingle(copy, endpoint, seen)
    else compareBatch(copy, endpoint, seen)
  }

  function compareSingle({ request, operator, bellwire }: Copy, { channel }: SendEndpoint, seen: Seen): void {
    tally.countMessages(1)
    const fields = objectOf(operator)
    const identifier = identifierIn(fields, channel)
    const item = readSingle(request)
    const pair = {
      item,
      operator: singleOutcome(operator),
      bellwire: singleOutcome(bellwire),
      reason: reasonOf(bellwire, channel),
      identifier,
      request,
      seen: { ...seen, ...idOf(item) },
    }
    if (operator.status >= 300 && operator.status <= 399) {
      tally.add('single.status', pair.seen)
      return
    }
    compareOutcomes(pair, channel, 'single')
    if (pair.operator !== pair.bellwire) return
    if (pair.operator === 'failed' && errorOf(operator) === undefined) tally.add('malformed.error', pair.seen)
    if (pair.operator !== 'successful') return
    if (!isJson(operator)) tally.add('single.content-type', { ...pair.seen, ...contentTypes(operator, bellwire) })
    if (fields === undefined) tally.add('single.json', pair.seen)
    else if (identifier === undefined)
      tally.add('single.identifier', { ...pair.seen, operator: `no ${identifierOf[channel]}` })
  }

  function compareBatch({ request, operator, bellwire }: Copy, { channel }: SendEndpoint, seen: Seen): void {
    const read = readBatch(request)
    if ('invalid' in read) {
      if (operator.status === 200 && bellwire.status !== 200) tally.add('batch.unreadable', seen)
      return
    }
    const { items } = read
    if (items.length === 0) return // open point 36
    tally.countMessages(items.length)
    const isProcessed = operator.status === 200
    if (bellwire.status !== 200) {
      if (isProcessed) tally.add('outcome', seen)
      return
    }
    const ofBellwire = byId(reportedItems(bellwire, channel) ?? [])
    if (!isProcessed && !mayBeOutage(operator.status)) {
      const hasBadItem = items.some((item) => 'invalid' in item)
      tally.add(hasBadItem ? 'bad-item.status' : 'batch.status', seen)
      return
    }
    const ofOperator = isProcessed ? readItems(operator, channel, seen) : new Map<string, ReportedItem[]>()
    if (ofOperator === undefined) return
    if (isProcessed && !isJson(operator))
      tally.add('batch.content-type', { ...seen, ...contentTypes(operator, bellwire) })
    const requested = byId(items)
    for (const [id, found] of ofOperator)
      if (!requested.has(id)) tally.add('absence.foreign', { ...seen, id, operator: found[0]?.shown ?? id })
    for (const [id, [item, ...repeated]] of requested) {
      const expected = ofBellwire.get(id)?.[0]
      // Twice in the request (open point 28), or not reported by Bellwire: nothing to compare with.
      if (item === undefined || repeated.length > 0 || expected === undefined) continue
      const ofMessage = { ...seen, id: item.idJson as string, bellwire: expected.shown }
      const [reported, ...others] = ofOperator.get(id) ?? []
      if (reported === undefined && isProcessed) {
        // Open point 27: an item with an invalid id.
        if (expected.category !== 'fatal' && !('invalid' in item))
          tally.add('absence.none', { ...ofMessage, operator: 'absent' })
        continue
      }
      if (others.length > 0) {
        tally.add('absence.once', {
          ...ofMessage,
          operator: [reported, ...others].map((each) => each?.shown).join(', '),
        })
        continue
      }
      const pair = {
        item,
        operator: reported?.category ?? ('fatal' as const),
        bellwire: expected.category,
        reason: expected.reason,
        identifier: reported?.identifier,
        request,
        seen: { ...ofMessage, operator: reported?.shown ?? seen.operator },
      }
      compareOutcomes(pair, channel, 'batch')
      if (reported === undefined) continue
      if (!isSameId(reported.idJson, item.idJson)) tally.add('batch.id', pair.seen)
      if (pair.operator === 'successful' && pair.bellwire === 'successful' && reported.identifier === undefined)
        tally.add('batch.identifier', pair.seen)
    }
  }

  /** The items of the operator's answer by the value of their id. Undefined if the answer is no batch response record. */
  function readItems(answer: Answer, channel: Channel, seen: Seen): Map<string, ReportedItem[]> | undefined {
    const fields = objectOf(answer)
    const reported = reportedItems(answer, channel)
    if (fields === undefined) tally.add('batch.json', seen)
    else if (reported === undefined || categories.some((name) => name in fields && !Array.isArray(fields[name])))
      tally.add('batch.categories', seen)
    else if (categories.some((name) => !(name in fields))) tally.add('batch.empty-categories', seen)
    if (reported === undefined) return undefined
    const nameless = reported.find(({ idJson }) => idJson === undefined)
    if (nameless) tally.add('batch.id', { ...seen, operator: nameless.shown })
    return byId(reported)
  }

  function compareOutcomes(pair: Pair, channel: Channel, mode: 'single' | 'batch'): void {
    const { item, operator, bellwire, reason, identifier, seen } = pair
    const key = keyOf(item, channel)
    if (operator === 'fatal') {
      if (bellwire !== 'fatal') unsettled.add(key, { ...pair, channel, mode })
      return
    }
    unsettled.settle(key)
    const first = identities.find(key)
    if (operator !== bellwire) {
      if (operator === 'successful' && reason === 'invalid' && !isStorable(pair)) {
        tally.leaveOut('Bellwire refuses texts that cannot be stored (open point 41)', seen.bellwire)
        return
      }
      const refusesRepetition = operator === 'failed' && bellwire === 'successful' && first !== undefined
      tally.add(refusesRepetition ? `repeat.${mode}` : ruleOfOutcome(pair, mode), seen)
      return
    }
    if (operator !== 'successful' || identifier === undefined || 'invalid' in item) return
    if (first !== undefined && first !== identifier)
      tally.add(`repeat.${mode}`, { ...seen, operator: `first ${first}, then ${identifier}` })
    const other = identities.add(key, identifier, `${channel} ${item.id}`)
    if (other !== undefined)
      tally.add(`${mode}.identifier-unique`, { ...seen, operator: `${identifier}, also of ${other}` })
  }

  return {
    compare,
    end() {
      for (const { stuck, attempts, of } of unsettled.list()) {
        if (stuck) {
          const operator = `fatal in ${attempts} attempts, while other messages were answered: ${of.seen.operator}`
          tally.add(ruleOfOutcome(of, of.mode), { ...of.seen, operator })
        } else tally.leaveOut('the operator did not give a final answer before the end', of.seen.operator)
      }
    },
  }
}

/** Whether each text of the message can be stored (open point 41). */
const isStorable = ({ item, request }: Pair): boolean => unstorable(item.text) === undefined && isUtf8(request)

/** The rule that a different outcome violates. */
function ruleOfOutcome({ operator, bellwire, reason }: Pair, mode: 'single' | 'batch'): string {
  if (bellwire !== 'failed') return 'outcome'
  if (reason === 'suppressed') return `blocked.${mode}`
  if (reason === 'no_device') return `no-device.${mode}`
  if (reason !== 'invalid') return 'outcome'
  if (mode === 'batch') return 'bad-item.failed'
  return operator === 'successful' ? 'malformed.not-delivered' : 'malformed.final'
}

function seenIn({ at, endpoint, operator, bellwire }: Copy): Seen {
  const path = endpoint === 'reconciliation' ? endpoint : `${endpoint.channel}/${endpoint.mode}`
  return { at, endpoint: path, operator: shownAnswer(operator), bellwire: shownAnswer(bellwire) }
}

const isRefusal = ({ status }: Answer): boolean => status >= 400 && status <= 499

const isRefusedKey = ({ status }: Answer): boolean => status === 401 || status === 403

/** Statuses of a batch that say nothing about its messages: the platform sends the batch again. */
const mayBeOutage = (status: number): boolean => status >= 500 || status === 408 || status === 429

/** Why Bellwire refused a single message. */
function reasonOf({ status, body }: Answer, channel: Channel): StatedReason | undefined {
  return status === 400 ? 'invalid' : readSingleBody(body, channel).reason
}

const idOf = ({ idJson }: ReadItem): { id?: string } => (idJson === undefined ? {} : { id: idJson })

/** Open point 29. A message that cannot be read is identified by its text. */
function keyOf(item: ReadItem, channel: Channel): string {
  if (!('invalid' in item)) return `${item.brandId} ${messageKey(channel, item)}`
  return `${channel} ${createHash('sha256').update(item.text).digest('base64url')}`
}

/** The items that have an id, by its value. */
function byId<Item extends { readonly idJson: string | undefined }>(items: readonly Item[]): Map<string, Item[]> {
  const named = items.filter(({ idJson }) => idJson !== undefined)
  return Map.groupBy(named, ({ idJson = '' }) => valueOfId(idJson))
}

/** Whether an id came back as it was sent: the digits of a number, or the value of a text. */
function isSameId(returned: string | undefined, sent: string | undefined): boolean {
  if (returned === sent) return true
  if (!returned?.startsWith('"') || !sent?.startsWith('"')) return false
  return JSON.parse(returned) === JSON.parse(sent)
}
