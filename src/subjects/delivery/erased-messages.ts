// Repetitions of messages whose user was erased: their rows have digests of the keys.

import type { ErasedPeople } from '../../base/people/erasures.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { erasedKey } from '../../contract/message-key.ts'
import type { Message } from '../providers/provider.ts'
import type { Claim, ClaimMessages } from './claim.ts'
import { selectMessages } from './messages.ts'

/** Claims no message that was erased. A new message of an erased user is claimed like any other. */
export const withoutErased =
  (database: Pick<Database, 'read'>, erased: Pick<ErasedPeople, 'find'>, claim: ClaimMessages): ClaimMessages =>
  async (messages) => {
    const found = new Map<string, Message>()
    for (const message of messages) {
      const person = erased.find(message.brand, message.userId)
      if (person) found.set(erasedKey(message.key, person.userDigest, person.digestOf(message.key)), message)
    }
    if (found.size === 0) return claim(messages)
    const rows = await database.read(op(selectMessages, [...found], ([key, { brand }]) => [brand, key]))
    const claims = new Map<Message, Claim>()
    for (const { key, ref, state } of rows)
      claims.set(found.get(key) as Message, { is: state === 'successful' ? 'delivered' : 'erased', ref })
    const others = await claim(messages.filter((message) => !claims.has(message)))
    return new Map([...claims, ...others])
  }
