// People who sign in without a key. For the routes of /admin, each has a random key that only this process knows.

import { type AcceptedKeys, createAcceptedKeys } from '../../base/http/accepted-keys.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { random } from '../../base/runtime/random.ts'

export type SignInPerson = Pick<AccessKey, 'name' | 'scopes' | 'brands'>

export interface People {
  /** The keys for /admin, with those of the people. */
  join(keys: AcceptedKeys<AccessKey>): AcceptedKeys<AccessKey>
  /** Undefined: nobody has this name. */
  keyOf(name: string): string | undefined
}

export function createPeople(people: readonly SignInPerson[]): People {
  const keys = people.map((each): AccessKey & { readonly key: string } => ({
    ...each,
    key: random.bytes(32).toString('base64url'),
  }))
  const accepted = createAcceptedKeys<AccessKey>(keys)
  return {
    keyOf: (name) => keys.find((each) => each.name === name)?.key,
    join: (others) => ({
      ...others,
      find: (presented, address) => accepted.find(presented, address) ?? others.find(presented, address),
    }),
  }
}
