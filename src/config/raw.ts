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
