// The operator's counts of messages by outcome.

import { Type } from 'typebox'
import { whole } from '../../contract/documents/described.ts'
import type { MessageCount } from '../../subjects/delivery/message-counts.ts'
import { adminRoute } from './route.ts'
import { isBrandVisible } from './visibility.ts'

const CountsSchema = Type.Object({
  successful: whole(),
  failed: whole(),
  fatal: whole(),
  in_flight: whole(),
  uncertain: whole('Attempts without an answer, which may have arrived'),
  repeated: whole('Attempts after the first'),
})

type Counts = ReturnType<typeof zeroCounts>
/** `uncertain` and `repeated` count attempts: uncertain attempts had no answer and may have arrived; repeated attempts followed a first attempt. */
const zeroCounts = () => ({ successful: 0, failed: 0, fatal: 0, in_flight: 0, uncertain: 0, repeated: 0 })

export function operatorSummary(countMessages: () => Promise<readonly MessageCount[]>) {
  return adminRoute({
    says: 'Counts the messages by outcome: in total, and for each brand.',
    gives: Type.Object({ ...CountsSchema.properties, brands: Type.Record(Type.String(), CountsSchema) }),
    async handler(_request, key) {
      const rows = (await countMessages()).filter((row) => isBrandVisible(key, row.brand))
      const total = zeroCounts()
      const byBrand = new Map<string, Counts>()
      for (const row of rows) {
        const brand = byBrand.get(row.brand) ?? zeroCounts()
        byBrand.set(row.brand, brand)
        for (const counts of [total, brand]) counts[row.name as keyof Counts] += row.n
      }
      return { ...total, brands: Object.fromEntries(byBrand) }
    },
  })
}
