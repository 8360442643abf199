import { random } from '../runtime/random.ts'

/**
 * Creates an owner id for this process, at each opening of a store or session. It is short, since each message's row has it.
 *
 * @example newOwner() // '4711-9f2c01d3ab'
 */
export const newOwner = (): string => `${process.pid}-${random.bytes(5).toString('hex')}`
