// The only place where the engine gets random values (a lint rule checks it), so that a simulation can replace them. Encryption and keys
// use node:crypto directly.

import { randomBytes, randomFillSync, randomInt, randomUUID } from 'node:crypto'

export const random = {
  /** At least 0, less than 1. For jitter, not for secrets. */
  fraction: (): number => Math.random(),
  /** At least 0, less than `limit`. */
  integer: (limit: number): number => randomInt(limit),
  bytes: (count: number): Buffer => randomBytes(count),
  fill: (bytes: Buffer): Buffer => randomFillSync(bytes),
  uuid: (): string => randomUUID(),
}
