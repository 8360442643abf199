// Groups user ids into chunks of the response.

import { quote } from '../../contract/quote.ts'
import { shown } from '../../contract/shown.ts'
import type { IdChunk } from './attribute-source.ts'

const maxIds = 4_096
const maxUnits = 128 * 1024

/** Groups ids into chunks that are large enough for one write each. */
export async function* chunksOf(ids: Iterable<string> | AsyncIterable<string>): AsyncGenerator<IdChunk> {
  const buffer = createBuffer()
  if (Symbol.iterator in ids) {
    for (const id of ids) if (buffer.add(id)) yield buffer.flush()
  } else {
    for await (const id of ids) if (buffer.add(id)) yield buffer.flush()
  }
  const last = buffer.flush()
  if (last.ids.length > 0) yield last
}

function createBuffer() {
  let ids: string[] = []
  let units = 0
  return {
    /** @returns whether the chunk is full */
    add(id: string): boolean {
      if (typeof id !== 'string') throw new TypeError(`a user id must be a string, not ${typeof id}`)
      units += id.length
      return ids.push(id) >= maxIds || units >= maxUnits
    },
    flush(): { readonly ids: readonly string[] } {
      const chunk = { ids }
      ids = []
      units = 0
      return chunk
    },
  }
}

/** Serializes a chunk for the response: each id as a JSON string after a comma. @throws for an id that is no string */
export function jsonOf(chunk: IdChunk): { readonly json: Uint8Array; readonly count: number } {
  if ('json' in chunk) return chunk
  let text = ''
  for (const id of chunk.ids) {
    if (typeof id !== 'string') throw new TypeError(`the source listed ${shown(id)}: list the user ids as strings`)
    text += `,${quote(id)}`
  }
  return { json: Buffer.from(text), count: chunk.ids.length }
}
