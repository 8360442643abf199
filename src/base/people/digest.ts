import { createHmac } from 'node:crypto'

/** A user of a brand. */
export interface Person {
  readonly brand: string
  readonly userId: string
}

/** An erased user. Digests stand for the ids and keys that must still be recognized. */
export interface ErasedPerson extends Person {
  /** When the erasure was requested (epoch ms): rows from later are of a returning user, and stay. */
  readonly at: number
  /** Stands for the user id. */
  readonly userDigest: string
  /** Stands for another text, such as a key. */
  digestOf(text: string): string
}

const prefix = 'erased:'

/** Whether a user id is the digest of an erased user. */
export const isErased = (userId: string): boolean => userId.startsWith(prefix)

/** A keyed digest, because user ids are numbers that can be guessed. @param secret of the brand */
export const keyedDigest = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url')

/** @param secret of the brand */
export function erasedPerson({ brand, userId }: Person, secret: string, at: number): ErasedPerson {
  const digestOf = (text: string): string => `${prefix}${keyedDigest(secret, text)}`
  return { brand, userId, at, userDigest: digestOf(userId), digestOf }
}
