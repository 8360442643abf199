// What is counted: each row sums events by some of their own fields.

import type { EventName, Events } from './events.ts'

type Row<Name extends EventName> = {
  readonly event: Name
  /** Becomes bellwire_NAME_total. Rows of the same name add up, and have the same help and labels. */
  readonly name: string
  readonly help: string
  /** Fields of the event that become labels. */
  readonly by: readonly (keyof Events[Name] & string)[]
  /** The field to add up; absent: 1 for each event. */
  readonly sum?: keyof Events[Name] & string
  /** Only events where this field is true. */
  readonly only?: keyof Events[Name] & string
}
export type CounterRow = { [Name in EventName]: Row<Name> }[EventName]

const uncertainHelp = 'Attempts that may have arrived although no answer came, also those of a process that is gone'

export const counters: readonly CounterRow[] = [
  // The send path.
  { event: 'message.received', name: 'received', by: ['channel', 'mode'], sum: 'count', help: 'Messages received' },
  { event: 'message.settled', name: 'attempts', by: ['channel', 'category'], help: 'Attempts settled, by outcome' },
  {
    event: 'message.settled',
    name: 'uncertain',
    by: ['channel'],
    only: 'uncertain',
    help: uncertainHelp,
  },
  {
    event: 'message.taken_over',
    name: 'uncertain',
    by: ['channel'],
    only: 'uncertain',
    help: uncertainHelp,
  },
  { event: 'message.repeated', name: 'repeated', by: ['category'], help: 'Messages known already, answered as before' },
  {
    event: 'messages.refused',
    name: 'refused_while_paused',
    by: ['channel'],
    sum: 'count',
    help: 'Messages answered as fatal at once, since their push service or provider is paused',
  },
  { event: 'message.invalid', name: 'invalid', by: ['channel'], help: 'Messages that are malformed' },
  {
    event: 'message.without_text',
    name: 'without_text',
    by: ['brand', 'channel'],
    help: 'Messages delivered without title and body: is operator.content right?',
  },
  { event: 'message.suppressed', name: 'suppressed', by: ['brand'], help: 'Messages to users who must not get any' },
  { event: 'message.taken_over', name: 'taken_over', by: ['uncertain'], help: 'Messages of processes that are gone' },
  { event: 'budget.spent', name: 'unfinished', by: ['channel'], sum: 'unfinished', help: 'Not done within the budget' },
  // Devices.
  { event: 'device.linked', name: 'devices_linked', by: ['brand', 'kind'], help: 'Devices linked to a user' },
  { event: 'device.moved', name: 'devices_moved', by: ['brand', 'kind'], help: 'Devices given to another user' },
  { event: 'device.unlinked', name: 'devices_unlinked', by: ['brand', 'kind'], help: 'Devices unlinked' },
  { event: 'device.restored', name: 'devices_restored', by: ['brand'], sum: 'count', help: 'Removals taken back' },
  {
    event: 'device.unreadable',
    name: 'devices_unreadable',
    by: ['source'],
    help: 'Devices that a source tells wrongly',
  },
  { event: 'device.clamped', name: 'devices_clamped', by: ['brand'], help: 'Link and unlink events from the future' },
  // What somebody should look at.
  { event: 'message.other_parts', name: 'other_parts', by: ['brand'], help: 'An id again with other parts (row 29)' },
  { event: 'answer.warning', name: 'odd_answers', by: ['provider'], help: 'Answers that contradict the request' },
  { event: 'provider.threw', name: 'provider_threw', by: ['provider'], help: 'Calls to a provider that threw' },
  { event: 'provider.alert', name: 'alerts', by: ['provider'], help: 'Providers that need attention' },
  {
    event: 'request.refused',
    name: 'requests_refused',
    by: ['side', 'status'],
    help: 'Requests answered with an error',
  },
  { event: 'store.lost', name: 'store_lost', by: [], help: 'Times that the store could not be reached' },
  { event: 'store.repeated', name: 'commits_repeated', by: [], help: 'Commits repeated caller by caller' },
  // Attributes.
  {
    event: 'suppression.away',
    name: 'suppression_away',
    by: ['source'],
    help: 'Look-ups that an attribute source could not answer: nothing was sent',
  },
  {
    event: 'reconciliation.ended',
    name: 'reconciliations',
    by: ['brand', 'field', 'ended'],
    help: 'Lists of users streamed, by how they ended',
  },
  {
    event: 'reconciliation.ended',
    name: 'reconciliation_users',
    by: ['brand', 'field'],
    sum: 'users',
    help: 'Users in lists that were streamed',
  },
  // Providers.
  { event: 'call.done', name: 'call_messages', by: ['provider'], sum: 'messages', help: 'Messages in calls' },
  { event: 'call.done', name: 'call_fatal', by: ['provider'], sum: 'fatal', help: 'Messages of calls to send again' },
  { event: 'call.done', name: 'call_failed', by: ['provider'], sum: 'failed', help: 'Messages of calls that failed' },
  { event: 'device.sent', name: 'device_sends', by: ['service', 'category'], help: 'Pushes to single devices' },
  {
    event: 'device.sent',
    name: 'device_uncertain',
    by: ['service'],
    only: 'uncertain',
    help: 'Pushes to single devices whose answer was lost',
  },
  {
    event: 'device.dropped',
    name: 'devices_dropped',
    by: ['service'],
    help: 'Devices that their provider proved dead',
  },
  // Device links on their way.
  { event: 'device.parked', name: 'messages_parked', by: ['lane'], help: 'Messages that could not be read' },
  { event: 'channel.lost', name: 'channel_lost', by: ['channel'], help: 'Times that a broker could not be reached' },
  { event: 'channel.held', name: 'channel_held', by: ['channel'], help: 'Times that the store took no messages' },
  { event: 'lane.held', name: 'lane_held', by: ['lane'], help: 'Times that a lane was held: its other side was away' },
  // The platform.
  { event: 'queue.put', name: 'put', by: ['lane'], sum: 'accepted', help: 'Messages put into the queue' },
  { event: 'queue.put', name: 'put_again', by: ['lane'], sum: 'repeated', help: 'Messages that were there already' },
  { event: 'item.settled', name: 'items', by: ['lane', 'category'], help: 'Queued messages settled, by outcome' },
  {
    event: 'item.settled',
    name: 'untracked',
    by: ['lane'],
    only: 'untracked',
    help: 'Queued messages delivered without an identifier',
  },
  { event: 'item.retry', name: 'retries', by: ['lane', 'reason'], help: 'Attempts to be repeated, by reason' },
  {
    event: 'crm.compared',
    name: 'comparisons',
    by: ['brand', 'field', 'state'],
    help: 'Comparisons of operators’ lists with the CRM, by how they ended',
  },
  { event: 'batch.sent', name: 'batches', by: ['lane', 'full'], help: 'Batches handed to the provider' },
]
