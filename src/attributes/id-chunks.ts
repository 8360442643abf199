// Ids on their way into the answer.

import { quote } from '../contract/quote.ts'
import type { IdChunk } from './attribute-source.ts'

const most = 4_096
const mostUnits = 128 * 1024

/** Gathers ids into chunks that are worth a write. */
export async function* chunksOf(ids: Iterable<string> | AsyncIterable<string>): AsyncGenerator<IdChunk> {
  const gathering = createGathering()
  if (Symbol.iterator in ids) {
    for (const id of ids) if (gathering.add(id)) yield gathering.take()
  } else {
    for await (const id of ids) if (gathering.add(id)) yield gathering.take()
  }
  const last = gathering.take()
  if (last.ids.length > 0) yield last
}

function createGathering() {
  let ids: string[] = []
  let units = 0
  return {
    /** @returns whether there are enough */
    add(id: string): boolean {
      if (typeof id !== 'string') throw new TypeError(`a user id must be a text, not ${typeof id}`)
      units += id.length
      return ids.push(id) >= most || units >= mostUnits
    },
    take(): { readonly ids: readonly string[] } {
      const taken = ids
      ids = []
      units = 0
      return { ids: taken }
    },
  }
}

/** A chunk as it stands in the answer, each id with a comma before it. */
export function jsonOf(chunk: IdChunk): { readonly json: Uint8Array; readonly count: number } {
  if ('json' in chunk) return chunk
  let text = ''
  for (const id of chunk.ids) text += `,${quote(id)}`
  return { json: Buffer.from(text), count: chunk.ids.length }
}
