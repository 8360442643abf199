// A source of your own for blocked users and consent: a database, a cache, a service. See modules.yaml.

import { functionSource } from 'bellwire'

// User 1002 of brand 1 has excluded himself; user 1002 of brand 2 is somebody else.
const excluded = new Set(['1/1002'])

export const source = functionSource(
  ['excluded'],
  // Before each send: which of these users?
  (brand, userIds) => userIds.filter((user) => excluded.has(`${brand}/${user}`)),
  'my source',
  // For reconciliation: all of them, as an array or as something that yields them one by one.
  function* (brand) {
    for (const key of excluded) if (key.startsWith(`${brand}/`)) yield key.slice(brand.length + 1)
  },
)
