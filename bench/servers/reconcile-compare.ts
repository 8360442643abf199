// Reads an answer of §2.5 from a file like the reconciler from the network, loads it and compares it with the CRM.
// argv: the platform's store.

import { createReadStream } from 'node:fs'
import { openDatabase } from '../../src/base/store/open-database.ts'
import type { Texts } from '../../src/base/store/scratch.ts'
import { createAnswerParser } from '../../src/subjects/reconcile/answer-parser.ts'
import { compareLists, readDifferences } from '../../src/subjects/reconcile/compare-lists.ts'
import { crmFileOf, crmStoreMigrations } from '../../src/subjects/reconcile/crm/store.ts'
import { fillCrm } from '../../test/support/fill-crm.ts'
import { handleCalls } from '../harness/handle-calls.ts'

const [store = ''] = process.argv.slice(2)
const brand = '1'

handleCalls({
  fill: ([from, to]: [number, number]) => fillCrm(store, brand, from, to),
  async compare(file: string) {
    const database = await openDatabase(crmFileOf(store) ?? store, { migrations: crmStoreMigrations, shared: true })
    const began = performance.now()
    const scratch = await database.scratch()
    const parser = createAnswerParser(16_384)
    await scratch.load('answer', textsOf(file, parser))
    const loaded = performance.now()
    const ids = parser.ids
    const first = 'operator_only'
    const result = await compareLists({ scratch, brand, field: 'blocked', ids, judgedUntil: Date.now(), first })
    let found = 0
    for await (const page of readDifferences(scratch)) found += page.length
    const ended = performance.now()
    await scratch.close()
    await database.close()
    const memoryMb = process.resourceUsage().maxRSS / 1024
    return { ...result, ids, found, seconds: (ended - began) / 1000, loadSeconds: (loaded - began) / 1000, memoryMb }
  },
})

async function* textsOf(file: string, parser: ReturnType<typeof createAnswerParser>): AsyncGenerator<Texts> {
  for await (const chunk of createReadStream(file)) yield* parser.push(chunk as Buffer)
  yield* parser.end().texts
}
