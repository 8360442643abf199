import type { AcceptedKey } from './accepted-keys.ts'

/** The permissions of a key for /admin. None includes another. */
export const allScopes = [
  'enqueue', // put messages into the queue
  'counts', // numbers and states, without texts and persons
  'read', // texts, users and their devices
  'decide', // pause, cancel, replay, dismiss and correct, with the previews of these acts
  'attributes', // import and change the attributes of users
  'lift', // with `attributes` or `decide`: end a block or an exclusion
  'people', // export and erase the data of a person
  'devices', // link and unlink
  'audit', // read the audit trail, with the users whom it names
  'tokens', // create subscriber tokens, and so act for every user of the brands of the key
  'reload', // read the configuration again
  'backup', // copy the whole store
  'keys', // add keys with no more permissions than its own, and revoke keys
  'lanes', // add, change and remove lanes of the store, and so decide where messages are sent
] as const

export type Scope = (typeof allScopes)[number]

/** A key for /admin, with its permissions and its brands (absent: all brands). */
export interface AccessKey extends AcceptedKey {
  readonly scopes: readonly Scope[]
  readonly brands?: readonly string[]
}
