import { randomBytes } from 'node:crypto'

/**
 * A name for a process as an owner of claims and lanes, new at each opening of a store. It stands in every message's row, so it is
 * short.
 *
 * @example newOwner() // '4711-9f2c01d3ab'
 */
export const newOwner = (): string => `${process.pid}-${randomBytes(5).toString('hex')}`
