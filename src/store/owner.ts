import { randomBytes } from 'node:crypto'

/**
 * Creates an owner id for this process, at each opening of a store or session. It is short, since every message's row contains it.
 *
 * @example newOwner() // '4711-9f2c01d3ab'
 */
export const newOwner = (): string => `${process.pid}-${randomBytes(5).toString('hex')}`
