// Unvalidated input: texts, lists and maps, each with the place where it was written.

export interface Origin {
  /** The place that error messages name: 'bellwire.yaml:12', 'BELLWIRE_OPERATOR_PORT'. */
  readonly where: string
  /** The folder to which relative paths refer. */
  readonly base: string
}

export type Raw =
  | { readonly type: 'text'; readonly text: string; readonly origin: Origin; readonly quoted?: true }
  | { readonly type: 'list'; readonly items: Raw[]; readonly origin: Origin }
  | { readonly type: 'map'; readonly entries: Map<string, Entry>; readonly origin: Origin }

export interface Entry {
  /** The place of the key. */
  readonly origin: Origin
  readonly value: Raw
}

export function emptyMap(origin: Origin): Raw & { type: 'map' } {
  return { type: 'map', entries: new Map(), origin }
}

/**
 * The place where a setting was written.
 *
 * @param path 'platform.lanes[0].max'
 * @returns undefined for a default
 */
export function sourceOf(raw: Raw, path: string): string | undefined {
  let place = raw.origin.where
  let inner = raw
  for (const step of path.match(/[^.[\]]+/g) ?? []) {
    // A text stands for all that is in it, such as `push: recording`, and for a list of one item.
    if (inner.type === 'text') return place
    const entry = inner.type === 'map' ? inner.entries.get(step) : undefined
    const next = inner.type === 'list' ? inner.items[Number(step)] : entry?.value
    if (next === undefined && inner.type === 'map' && /^\d+$/.test(step)) continue
    if (next === undefined) return undefined
    place = inner.type === 'map' && next.type !== 'text' ? (entry as Entry).origin.where : next.origin.where
    inner = next
  }
  return place
}

/**
 * The place of a setting, or of the innermost setting around it that is written.
 *
 * @param path 'platform.lanes[0].max'
 */
export function placeOf(raw: Raw, path: string): string {
  let place = raw.origin.where
  let inner: Raw | undefined = raw
  for (const step of path.match(/[^.[\]]+/g) ?? []) {
    const entry: Entry | undefined = inner?.type === 'map' ? inner.entries.get(step) : undefined
    inner = inner?.type === 'list' ? inner.items[Number(step)] : entry?.value
    if (inner === undefined) break
    place = (entry ?? inner).origin.where
  }
  return place
}
