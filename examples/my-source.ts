// Your own source of blocked users and consent, such as a database, a cache or a service. See modules.yaml.

import { functionSource } from 'bellwire'

// User 1002 of brand 1 is excluded; user 1002 of brand 2 is another person.
const excluded = new Set(['1/1002'])

export const source = functionSource(
  ['excluded'],
  // Before each send: the excluded users among these.
  (brand, userIds) => userIds.filter((user) => excluded.has(`${brand}/${user}`)),
  'my source',
  // For reconciliation: all excluded users, as an array or an iterable.
  function* (brand) {
    for (const key of excluded) if (key.startsWith(`${brand}/`)) yield key.slice(brand.length + 1)
  },
)
