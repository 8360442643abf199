// The number of messages of each brand in each state, and two counts of attempts.

import { counters } from '../../base/store/counters.ts'
import { statement } from '../../base/store/statement.ts'

/** A count is named after a state of messages.ts, or 'uncertain' (attempts without an answer), or 'repeated' (later attempts). */
export const messageCountMigrations = [
  counters({
    table: 'message_counts',
    counted: 'messages',
    scope: 'brand',
    counts: [
      { name: (m) => `${m}.state`, n: () => '1', of: ['state'] },
      { name: () => `'uncertain'`, n: (m) => `${m}.uncertain`, of: ['uncertain'] },
      { name: () => `'repeated'`, n: (m) => `(${m}.attempt - 1)`, of: ['attempt'] },
    ],
  }),
]

export interface MessageCount {
  readonly brand: string
  readonly name: string
  readonly n: number
}

/** The counts of each brand: read with `database.readMerged(op(countMessages, [[]]))`. */
export const countMessages = statement<MessageCount>('count_messages', {})`
  select c.scope as brand, c.name, sum(c.n) as n from message_counts c group by c.scope, c.name order by 1, 2`
