// What somebody wrote, before it means anything: texts, lists and maps, each knowing where it was written.

export interface Origin {
  /** For people: 'bellwire.yaml:12', 'BELLWIRE_OPERATOR_PORT'. */
  readonly where: string
  /** The folder from which relative paths count. */
  readonly base: string
}

export type Raw =
  | { readonly type: 'text'; readonly text: string; readonly origin: Origin; readonly quoted?: true }
  | { readonly type: 'list'; readonly items: Raw[]; readonly origin: Origin }
  | { readonly type: 'map'; readonly entries: Map<string, Entry>; readonly origin: Origin }

export interface Entry {
  /** Where the key is written. */
  readonly origin: Origin
  readonly value: Raw
}

export function emptyMap(origin: Origin): Raw & { type: 'map' } {
  return { type: 'map', entries: new Map(), origin }
}
