// The plan of the proof kills: the points of a message's path, and the traffic for each process.

import { postgresDefaults } from '../../src/base/store/postgres-defaults.ts'
import type { OperatorPoint, PlatformPoint, Strike } from '../processes/strike.ts'

export const operatorPoints: readonly OperatorPoint[] = [
  'before-claim',
  'between-claim-and-call',
  'between-acceptance-and-settle',
  'after-settle',
]
export const platformPoints: readonly PlatformPoint[] = [
  'before-enqueueing',
  'while-enqueueing',
  'before-read-ahead',
  'between-read-and-call',
  'between-answer-and-settle',
  'after-settle',
]

/** The duration of a stop: longer than every time limit, and than the lease of a session on PostgreSQL in small size. */
export const shortStopMs = 4_000
/** Longer than the usual lease of a session on PostgreSQL. */
export const longStopMs = postgresDefaults.leaseMs + 3_000

/**
 * In small size, the proof with pushes to devices has the first of two points, and the proof without devices the second: between them
 * they have every point.
 */
export const inTurn = <Point>(
  points: readonly Point[],
  { small, devices }: { small: boolean; devices: boolean },
): readonly Point[] => (small ? points.filter((_, i) => i % 2 === Number(!devices)) : points)

/** The points of the stops in small size, also divided between the two proofs. */
export const smallStops: {
  readonly operator: readonly OperatorPoint[]
  readonly platform: readonly PlatformPoint[]
} = {
  operator: ['between-acceptance-and-settle', 'between-claim-and-call'],
  platform: ['between-answer-and-settle', 'between-read-and-call'],
}

export interface Size {
  readonly kills: number
  readonly stops: number
  /** Records for each process until it is killed. */
  readonly records: number
  /** Records of a stream in several blocks, so that it can be interrupted between two blocks. */
  readonly streamed: number
  readonly max: number
}
export const sizes: { readonly full: Size; readonly small: Size } = {
  full: { kills: 20, stops: 2, records: 300, streamed: 2_200, max: 50 },
  small: { kills: 1, stops: 1, records: 60, streamed: 1_100, max: 10 },
}

/**
 * The passing at which a process is struck. It varies, so that other messages are in flight at all points. It is not the first, so
 * that each operator answers a call before it ends: otherwise the platform would detect an outage and send ever fewer calls.
 */
export function passingOf(point: Strike['point'], i: number, size: Size): number {
  switch (point) {
    case 'after-settle':
      return 2 + ((i * 7) % (size.records / 2)) // counted by message
    case 'before-enqueueing':
      return 1 // each process receives one request
    case 'while-enqueueing':
    case 'before-read-ahead':
      return 1 + (i % 4) // two lanes and two blocks; four lanes
    default:
      return 2 + (i % 3) // counted by call
  }
}
