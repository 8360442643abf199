// The outcomes that the send path itself gives: no provider was called, or its answer could not be settled.

import type { Fatal } from '../contract/outcome.ts'

const fatal = (outcome: Omit<Fatal, 'category'>): Fatal => ({ category: 'fatal', ...outcome })

export const overloaded = fatal({
  reason: 'overloaded',
  blame: 'provider',
  retryAfterMs: 1_000,
  rule: 'row 13: overload',
  error: 'too many messages in progress: repeat the request in a second',
})

export const unfinished = fatal({
  reason: 'timeout',
  blame: 'message',
  retryAfterMs: 1_000,
  rule: 'answer budget spent',
  error: 'not finished in time; sending goes on: repeat the request to get the outcome',
})

export const noSlotInTime = fatal({
  reason: 'timeout',
  blame: 'provider',
  rule: 'the deadline passed before the call',
  error: 'not sent: the provider was at its concurrency limit until the deadline',
})

export const leaseLost = fatal({
  reason: 'unavailable',
  blame: 'provider',
  rule: 'store: lease lost',
  error: 'not sent: the connection to the store was lost, or its lease expired, after the message was claimed',
})

export const inFlightElsewhere = (retryAfterMs: number): Fatal =>
  fatal({
    reason: 'in_flight',
    blame: 'message',
    retryAfterMs,
    rule: 'row 29: in flight elsewhere',
    error: 'another process is sending this message now: repeat the request to get the outcome',
  })

export const storeUnavailable = (error: unknown): Fatal =>
  fatal({
    reason: 'unavailable',
    blame: 'provider',
    rule: 'store: no answer',
    error: `the store cannot answer (${error instanceof Error ? error.message : String(error)})`,
  })
