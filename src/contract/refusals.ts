// The registry of our own refusals: the outcomes that this code gives without an answer from a provider or push service. The
// outcome of an answer is decided beside the code that reads the answer. docs/reasons.md has this table.

import type { Failed, Fatal } from './outcome.ts'

/** `error` is the error text of a refusal whose caller has no more particular one. `remedy` is for the documentation. */
type FatalRefusal = Omit<Fatal, 'category'> & { readonly remedy: string }
type FailedRefusal = Omit<Failed, 'category'> & { readonly remedy: string }

const wait = 'None. It is retried.'

export const fatalRefusals = {
  stopping: {
    reason: 'stopping',
    blame: 'provider',
    rule: 'this process is stopping',
    error: 'this process is stopping',
    remedy: wait,
  },
  too_late: {
    reason: 'timeout',
    blame: 'provider',
    rule: 'the deadline passed before the call',
    error: 'not called: the deadline had passed',
    remedy: 'If it persists, raise the concurrency or the time limit of the provider.',
  },
  timed_out: {
    reason: 'timeout',
    blame: 'provider',
    rule: 'no answer in time',
    error: 'no answer in time',
    remedy: 'If it persists, raise the time limit, or ask the provider.',
  },
  overloaded: {
    reason: 'overloaded',
    blame: 'provider',
    rule: 'row 13: overload',
    error: 'too many messages in progress: repeat the request in a second',
    retryAfterMs: 1_000,
    remedy: 'If it persists, send more slowly, or raise the limit of messages in progress.',
  },
  rate_exceeded: {
    reason: 'rate_limited',
    blame: 'provider',
    rule: 'row 13: rate',
    error: 'the API key exceeded its rate: repeat the request after the time in Retry-After',
    remedy: 'Send at the agreed rate, or agree on a higher one.',
  },
  too_many_waiting: {
    reason: 'overloaded',
    blame: 'provider',
    rule: 'too many waiting',
    error: 'too many messages are waiting: repeat the request after the time in Retry-After',
    retryAfterMs: 1_000,
    remedy: 'If it persists, raise the concurrency or the rate of the push service.',
  },
  unfinished: {
    reason: 'timeout',
    blame: 'message',
    rule: 'answer budget spent',
    error: 'not finished in time; sending goes on: repeat the request to get the outcome',
    retryAfterMs: 1_000,
    remedy: 'None. The retry gets the outcome.',
  },
  lease_lost: {
    reason: 'unavailable',
    blame: 'provider',
    rule: 'store: lease lost',
    error: 'not sent: the connection to the store was lost, or its lease expired, after the message was claimed',
    remedy: 'If it persists, check the connection to the store.',
  },
  store_unavailable: {
    reason: 'unavailable',
    blame: 'provider',
    rule: 'store: no answer',
    error: 'the store cannot answer',
    remedy: 'Repair the store. It is retried.',
  },
  in_flight_elsewhere: {
    reason: 'in_flight',
    blame: 'message',
    rule: 'row 29: in flight elsewhere',
    error: 'another process is sending this message now: repeat the request to get the outcome',
    remedy: 'None. The retry gets the outcome.',
  },
  paused: {
    reason: 'unavailable',
    blame: 'provider',
    rule: 'paused',
    error: 'not sent: the push service is paused',
    remedy: 'Read why it is paused in `error`. The service is probed by itself.',
  },
  breaker_open: {
    reason: 'unavailable',
    blame: 'provider',
    rule: 'breaker open',
    error: 'no answer yet',
    remedy: 'Read the cause in `error`. The provider is probed by itself.',
  },
  nonsense: {
    reason: 'nonsense',
    blame: 'call',
    rule: 'the provider answered nonsense',
    error: 'the provider failed',
    remedy: 'Correct the code of the provider.',
  },
  handler_failed: {
    reason: 'nonsense',
    blame: 'call',
    rule: 'the handler did not answer',
    error: 'the handler failed',
    uncertain: true,
    remedy: 'Correct the code of the handler.',
  },
  earlier_first: {
    reason: 'unavailable',
    blame: 'provider',
    rule: 'an earlier message must be delivered first',
    error: 'an earlier message of the same user is not delivered yet',
    remedy: 'Read the cause in `error`. It is that of the earlier message.',
  },
  brand_of_another_key: {
    reason: 'misconfigured',
    blame: 'message',
    rule: 'row 31: brand of another key',
    error: 'the API key may not send for this brand',
    retryAfterMs: 60_000,
    remedy: "Add the brand to the key, or use that brand's key.",
  },
  batch_too_long: {
    reason: 'overloaded',
    blame: 'message',
    rule: 'row 26: larger than the maximum',
    error: 'the batch has too many messages',
    remedy: 'Send smaller batches.',
  },
  not_reached_by_service: {
    reason: 'misconfigured',
    blame: 'message',
    rule: 'devices: not of SERVICE',
    error: 'not sent: the push service does not reach the device',
    retryAfterMs: 60_000,
    remedy: 'Add the app or environment to the settings of the push service.',
  },
  devices_unknown: {
    reason: 'source_down',
    blame: 'provider',
    rule: 'devices: no answer',
    error: 'not sent: the source of devices cannot answer',
    remedy: 'Repair the source of devices. It is retried.',
  },
  attributes_unknown: {
    reason: 'source_down',
    blame: 'provider',
    rule: 'suppression: no answer',
    error: 'not sent: the attribute source cannot answer',
    remedy: 'Repair the attribute source. It is retried.',
  },
} as const satisfies Record<string, FatalRefusal>

export const failedRefusals = {
  malformed: {
    reason: 'invalid',
    rule: '§2.1',
    error: 'the record is malformed',
    remedy: 'Correct the record that `error` describes.',
  },
  unreadable_link: {
    reason: 'invalid',
    rule: 'row 22: cannot be read',
    error: 'the message cannot be read as a link or unlink',
    remedy: 'Correct the sender, then replay or dismiss the message.',
  },
  unreadable_record: {
    reason: 'invalid',
    rule: '§2.1: cannot be read',
    error: 'the message cannot be read as an activity request record',
    remedy: 'Correct the sender or the configuration, then replay or dismiss the message.',
  },
  unreadable_status: {
    reason: 'invalid',
    rule: 'row 24: cannot be read',
    error: 'the record cannot be read as a delivery status',
    remedy: 'Correct the operator, which must report the status again. Then dismiss the record.',
  },
  unknown_identifier: {
    reason: 'invalid',
    rule: 'row 24: unknown identifier',
    error: 'no message has the identifier of the delivery status',
    remedy:
      'Check that the status is about a message of this platform. Replay it once its message has the identifier, or dismiss it.',
  },
  unplaced_status: {
    reason: 'invalid',
    rule: 'row 24: no lane',
    error: 'the lane of the delivery status is not known',
    remedy:
      'Read the cause in `error`. Correct the webhook secrets of the lanes, or the meta of the operator, then replay the record.',
  },
  unreadable_content: {
    reason: 'invalid',
    rule: 'row 4 content',
    error: 'the content of the message cannot be read',
    remedy: 'Correct the content, or the content mapping.',
  },
  unreadable_push: {
    reason: 'invalid',
    rule: 'devices: content',
    error: 'the content of the message cannot be read',
    remedy: 'Correct the content, or the content mapping.',
  },
  suppressed: {
    reason: 'suppressed',
    rule: 'suppression: WHY',
    error: 'not sent: the user must not get messages',
    remedy: 'None. The message must not be sent.',
  },
  lifetime_over: {
    reason: 'expired',
    rule: 'devices: lifetime over',
    error: 'not sent: the message is older than its lifetime',
    remedy: 'Configure a longer lifetime.',
  },
  expired_in_queue: {
    reason: 'expired',
    rule: 'row 56: expired',
    error: 'not sent: the message expired while it waited',
    remedy: 'Find the cause of the wait: `bellwire doctor` and GET /admin/lanes show it. Or let messages expire later.',
  },
  status_forgotten: {
    reason: 'expired',
    rule: 'row 24: no record',
    error: 'not sent: the message was sent before statuses were recorded, or retention has removed it',
    remedy: 'Dismiss it. If the platform was away for longer than `operator.keep`, keep messages longer.',
  },
  no_device: {
    reason: 'no_device',
    rule: 'devices: none',
    error: 'the user has no device: no device is linked to this user of this brand',
    remedy: 'Link a device of the user.',
  },
  unlinked_in_transit: {
    reason: 'no_device',
    rule: 'devices: unlinked',
    error: 'not sent: the device was unlinked while the message waited to be sent',
    remedy: 'None. The user unlinked the device.',
  },
  no_service: {
    reason: 'no_device',
    rule: 'devices: no service',
    error: 'no push service reaches the device',
    remedy: 'Add a push service under `operator.push.devices.services`.',
  },
  target_not_registered: {
    reason: 'no_device',
    rule: 'target: not registered',
    error:
      'the message names a device token that was never linked; link the device to the user, or allow unregistered targets (operator.push.devices.unregistered_targets)',
    remedy: 'Link the device, or allow unregistered targets.',
  },
  target_unlinked: {
    reason: 'no_device',
    rule: 'target: unlinked',
    error: 'the message names a device token that was unlinked; leave the token out to reach all devices of the user',
    remedy: 'Leave the token out.',
  },
  target_of_another_user: {
    reason: 'no_device',
    rule: "target: another's",
    error:
      'the message names a device token that belongs to another user; leave the token out to reach all devices of the user',
    remedy: 'Leave the token out.',
  },
  erased: {
    reason: 'rejected',
    rule: 'the user was erased',
    error: 'not sent: the message is from before the data of its user was erased',
    remedy: 'None. A new message of the user is sent.',
  },
  cancelled: {
    reason: 'cancelled',
    rule: 'cancelled',
    error: 'cancelled while it waited',
    remedy: 'Read who cancelled it and why in `error`. Replay it if it must be sent after all.',
  },
} as const satisfies Record<string, FailedRefusal>

export type FatalCode = keyof typeof fatalRefusals
export type FailedCode = keyof typeof failedRefusals

/**
 * The fatal outcome of a refusal.
 *
 * @param more what is particular about this refusal; `by` is put before the rule
 * @example refuseFatal('paused', { by: 'fcm', retryAfterMs: 5_000 }) // { category: 'fatal', rule: 'fcm: paused', … }
 */
export function refuseFatal(
  code: FatalCode,
  { by, ...more }: Partial<Omit<Fatal, 'category'>> & { readonly by?: string } = {},
): Fatal {
  const { remedy: _, ...refusal } = fatalRefusals[code]
  return { category: 'fatal', ...refusal, ...(by !== undefined && { rule: `${by}: ${refusal.rule}` }), ...more }
}

/** The failed outcome of a refusal. */
export function refuseFailed(code: FailedCode, more: Partial<Omit<Failed, 'category' | 'reason'>> = {}): Failed {
  const { remedy: _, ...refusal } = failedRefusals[code]
  return { category: 'failed', ...refusal, ...more }
}
