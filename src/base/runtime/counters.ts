// The Prometheus counters: each row counts or sums the events of one name, grouped by some of their fields.

import type { EventName, Events } from './events.ts'

type Row<Name extends EventName> = {
  readonly event: Name
  /** The metric is bellwire_NAME_total. Rows with the same name add to the same metric and must have the same help and labels. */
  readonly name: string
  readonly help: string
  /** Fields of the event that become labels. */
  readonly by: readonly (keyof Events[Name] & string)[]
  /** The field to sum; absent: each event counts 1. */
  readonly sum?: keyof Events[Name] & string
  /** Counts only events in which this field is true. */
  readonly only?: keyof Events[Name] & string
}
export type CounterRow = { [Name in EventName]: Row<Name> }[EventName]

const uncertainHelp = 'Attempts without an answer that may have been delivered, including attempts of dead processes'

export const counters: readonly CounterRow[] = [
  // The send path.
  { event: 'message.received', name: 'received', by: ['channel', 'mode'], sum: 'count', help: 'Messages received' },
  { event: 'message.settled', name: 'attempts', by: ['channel', 'category'], help: 'Attempts settled, by outcome' },
  { event: 'message.settled', name: 'uncertain', by: ['channel'], only: 'uncertain', help: uncertainHelp },
  { event: 'message.taken_over', name: 'uncertain', by: ['channel'], only: 'uncertain', help: uncertainHelp },
  { event: 'message.repeated', name: 'repeated', by: ['category'], help: 'Repeated messages, answered as before' },
  {
    event: 'messages.refused',
    name: 'refused_while_paused',
    by: ['channel'],
    sum: 'count',
    help: 'Messages answered as fatal because their push service or provider was paused',
  },
  {
    event: 'messages.limited',
    name: 'limited',
    by: ['key'],
    sum: 'count',
    help: 'Messages answered as fatal because their API key exceeded its rate',
  },
  { event: 'message.invalid', name: 'invalid', by: ['channel'], help: 'Malformed messages' },
  {
    event: 'message.without_text',
    name: 'without_text',
    by: ['brand', 'channel'],
    help: 'Messages delivered without title and body; check operator.content',
  },
  { event: 'message.suppressed', name: 'suppressed', by: ['brand'], help: 'Messages suppressed because of their user' },
  { event: 'message.taken_over', name: 'taken_over', by: ['uncertain'], help: 'Messages taken over' },
  {
    event: 'budget.spent',
    name: 'unfinished',
    by: ['channel'],
    sum: 'unfinished',
    help: 'Unfinished within the budget',
  },
  // Devices.
  { event: 'device.linked', name: 'devices_linked', by: ['brand', 'kind'], help: 'Devices linked to a user' },
  { event: 'device.moved', name: 'devices_moved', by: ['brand', 'kind'], help: 'Devices moved to another user' },
  { event: 'device.unlinked', name: 'devices_unlinked', by: ['brand', 'kind'], help: 'Devices unlinked' },
  { event: 'device.restored', name: 'devices_restored', by: ['brand'], sum: 'count', help: 'Removals undone' },
  {
    event: 'device.unreadable',
    name: 'devices_unreadable',
    by: ['source'],
    help: 'Unreadable devices in a device source',
  },
  { event: 'device.clamped', name: 'devices_clamped', by: ['brand'], help: 'Events with a timestamp in the future' },
  // Problems that need attention.
  { event: 'answer.warning', name: 'odd_answers', by: ['provider'], help: 'Answers that contradict the request' },
  { event: 'provider.threw', name: 'provider_threw', by: ['provider'], help: 'Calls to a provider that threw' },
  { event: 'provider.slowed', name: 'provider_slowed', by: ['provider'], help: 'Times that the rate was halved' },
  { event: 'provider.alert', name: 'alerts', by: ['provider'], help: 'Providers that need attention' },
  {
    event: 'request.refused',
    name: 'requests_refused',
    by: ['side', 'status'],
    help: 'Requests answered with an error',
  },
  {
    event: 'keys.refused',
    name: 'keys_refused',
    by: [],
    sum: 'count',
    help: 'Requests refused because their key was missing or wrong, or not accepted from the address; counted once a minute',
  },
  { event: 'server.reload_refused', name: 'reloads_refused', by: [], help: 'Configurations that a reload refused' },
  { event: 'store.lost', name: 'store_lost', by: [], help: 'Outages of the store' },
  { event: 'store.repeated', name: 'commits_repeated', by: [], help: 'Group commits repeated one caller at a time' },
  // Attributes.
  {
    event: 'suppression.away',
    name: 'suppression_away',
    by: ['source'],
    help: 'Attribute look-ups that failed, so that nothing was sent',
  },
  {
    event: 'reconciliation.ended',
    name: 'reconciliations',
    by: ['brand', 'field', 'ended'],
    help: 'Streamed lists of users, by how the stream ended',
  },
  {
    event: 'reconciliation.ended',
    name: 'reconciliation_users',
    by: ['brand', 'field'],
    sum: 'users',
    help: 'Users in streamed lists',
  },
  // Providers.
  { event: 'call.done', name: 'call_messages', by: ['provider'], sum: 'messages', help: 'Messages in provider calls' },
  { event: 'call.done', name: 'call_fatal', by: ['provider'], sum: 'fatal', help: 'Fatal messages in calls' },
  { event: 'call.done', name: 'call_failed', by: ['provider'], sum: 'failed', help: 'Failed messages in calls' },
  { event: 'device.sent', name: 'device_sends', by: ['service', 'category'], help: 'Pushes to devices, by outcome' },
  {
    event: 'device.sent',
    name: 'device_uncertain',
    by: ['service'],
    only: 'uncertain',
    help: 'Pushes to devices whose answer was lost',
  },
  {
    event: 'device.dropped',
    name: 'devices_dropped',
    by: ['service'],
    help: 'Devices that their push service reported dead',
  },
  // Device links between operator, broker and platform.
  {
    event: 'status.reported',
    name: 'statuses',
    by: ['lane', 'status', 'via'],
    help: 'Delivery statuses stored, including repeated ones',
  },
  { event: 'poll.done', name: 'status_polls', by: ['lane'], help: 'Pages of delivery statuses polled' },
  {
    event: 'poll.failed',
    name: 'status_polls_failed',
    by: ['lane'],
    help: 'Requests for delivery statuses without a page',
  },
  { event: 'status.parked', name: 'statuses_parked', by: ['lane', 'code'], help: 'Delivery statuses parked' },
  {
    event: 'statuses.full',
    name: 'statuses_refused',
    by: ['lane'],
    help: 'Calls and pages of delivery statuses refused, because the lane has too many of unknown messages',
  },
  { event: 'message.parked', name: 'messages_parked', by: ['lane'], help: 'Messages parked as unreadable' },
  { event: 'consumer.lost', name: 'consumer_lost', by: ['consumer'], help: 'Lost connections to a broker' },
  {
    event: 'consumer.held',
    name: 'consumer_held',
    by: ['consumer'],
    help: 'Times that the store accepted no messages',
  },
  { event: 'lane.held', name: 'lane_held', by: ['lane'], help: 'Times that a lane was held' },
  // The platform.
  { event: 'queue.enqueued', name: 'enqueued', by: ['lane'], sum: 'accepted', help: 'Messages stored in the queue' },
  {
    event: 'queue.enqueued',
    name: 'enqueued_again',
    by: ['lane'],
    sum: 'repeated',
    help: 'Messages already in the queue',
  },
  { event: 'item.settled', name: 'items', by: ['lane', 'category'], help: 'Queued messages settled, by outcome' },
  {
    event: 'item.settled',
    name: 'untracked',
    by: ['lane'],
    only: 'untracked',
    help: 'Queued messages delivered without an identifier',
  },
  { event: 'items.cancelled', name: 'cancelled', by: ['lane'], sum: 'items', help: 'Waiting messages cancelled' },
  { event: 'item.retry', name: 'retries', by: ['lane', 'reason'], help: 'Retries, by reason' },
  {
    event: 'run.ended',
    name: 'comparisons',
    by: ['brand', 'field', 'state'],
    help: 'Comparisons of operators’ lists with the CRM, by result',
  },
  { event: 'batch.sent', name: 'batches', by: ['lane', 'full'], help: 'Batches handed to the provider' },
]
