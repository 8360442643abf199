// The exclusions that an attribute source lists now.

import type { AttributeSource, IdChunk } from '../attributes/attribute-source.ts'
import { NotListed } from '../attributes/attribute-source.ts'
import type { Exclusion, Exclusions } from './permission-check.ts'

/**
 * The users whom the source lists as excluded. It does not tell since when, so they count as excluded since the time of the list.
 *
 * @throws NotListed if the source cannot list users
 */
export async function readSourceExclusions(
  source: AttributeSource,
  brand: string,
  signal: AbortSignal,
): Promise<Exclusions> {
  if (!source.all) throw new NotListed(`${source.name} cannot list users`)
  const { timestamp, chunks } = await source.all(brand, 'excluded', { signal })
  const exclusion: Exclusion = { from: Date.parse(timestamp), to: null }
  const found = new Map<string, readonly Exclusion[]>()
  for await (const chunk of chunks) for (const user of idsOf(chunk)) found.set(user, [exclusion])
  return found
}

const idsOf = (chunk: IdChunk): readonly string[] =>
  'ids' in chunk ? chunk.ids : (JSON.parse(`[${Buffer.from(chunk.json).toString().slice(1)}]`) as string[])
