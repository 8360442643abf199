// Where and how often: the points of a message's way, and how much traffic each life of a process sees.

import type { OperatorPoint, PlatformPoint, Strike } from '../processes/strike.ts'

export const operatorPoints: readonly OperatorPoint[] = [
  'before-claim',
  'between-claim-and-call',
  'between-acceptance-and-settle',
  'after-settle',
]
export const platformPoints: readonly PlatformPoint[] = [
  'before-put',
  'while-putting',
  'before-read-ahead',
  'between-read-and-call',
  'between-answer-and-settle',
  'after-settle',
]

export interface Size {
  readonly kills: number
  readonly stops: number
  /** Records sent in each life of a process. */
  readonly records: number
  /** A stream of several groups, so that it can be cut between them. */
  readonly streamed: number
  readonly max: number
}
export const sizes: { readonly full: Size; readonly small: Size } = {
  full: { kills: 20, stops: 2, records: 300, streamed: 2_200, max: 50 },
  small: { kills: 2, stops: 1, records: 60, streamed: 1_100, max: 10 },
}

/**
 * Never the first passing, and not always the same: other messages are under way at all stages, and each life of the operator
 * answers something before it ends. (One that dies at every first call is an outage: the platform would ask it ever more seldom.)
 */
export function passing(point: Strike['point'], i: number, size: Size): number {
  switch (point) {
    case 'after-settle':
      return 2 + ((i * 7) % (size.records / 2)) // counted by message
    case 'before-put':
      return 1 // there is one request in a life
    case 'while-putting':
    case 'before-read-ahead':
      return 1 + (i % 4) // two lanes and two groups; two brands' lanes for two channels
    default:
      return 2 + (i % 3) // counted by call
  }
}
