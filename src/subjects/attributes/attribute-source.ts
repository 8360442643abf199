import { type ReconciliationField as Field, reconciliationFields as fields } from '../../contract/records.ts'

/** The nine fields of §2.5. */
export { type Field, fields }

export interface LookUp {
  /** Epoch milliseconds. A later answer is ignored. */
  readonly deadline: number
  readonly signal: AbortSignal
  /**
   * To be called by a source that knows the time of its data, in epoch milliseconds by its own clock: each change before it is in the
   * answer. It is stored with the messages that the answer decides. Of several times the oldest counts.
   */
  readonly noteAsOf?: (at: number) => void
}

/**
 * A chunk of a user list. An id is never split between two chunks. `json`: `count` ids in UTF-8, ready for the response, each
 * a JSON string after a comma (`,"1001","1002"`); the bytes are valid until the next chunk is requested, because the source
 * may reuse their memory. `ids`: plain strings, to be serialized by the reader.
 */
export type IdChunk = { readonly json: Uint8Array; readonly count: number } | { readonly ids: readonly string[] }

/** All users for whom a field is true at one point in time. */
export interface Snapshot {
  /** The point in time by the source's own clock, ISO 8601 in UTC, read before the first row. */
  readonly timestamp: string
  /** Can be iterated once. An early `return` or the signal cancels the query. If the iterator throws, the list is incomplete. */
  readonly chunks: AsyncIterable<IdChunk>
}

/**
 * Tells which users are blocked, excluded or consenting. One source serves both suppression before each delivery (design
 * §5.3) and reconciliation (§2.5), so that the two cannot disagree.
 */
export interface AttributeSource {
  readonly name: string
  /** The fields that the source can answer. It is never asked for another field. */
  readonly fields: readonly Field[]
  /** The fields that the source can answer for this brand. Needed only if brands differ. */
  fieldsOf?(brand: string): readonly Field[]
  /** Returns, for each field, the users among `userIds` for whom it is true. If the call throws, the messages become fatal. */
  among(
    brand: string,
    userIds: readonly string[],
    fields: readonly Field[],
    context: LookUp,
  ): Promise<ReadonlyMap<Field, ReadonlySet<string>>>
  /**
   * Lists all users of this brand for whom the field is true. Rejects if the list cannot be started, with NotListed if the
   * source can never list it. A source without this method cannot list users: reconciliation answers 501.
   */
  all?(brand: string, field: Field, options: { readonly signal: AbortSignal }): Promise<Snapshot>
  close?(): Promise<void>
}

/** @example fieldsOf(source, '1') // ['blocked', 'excluded'] */
export function fieldsOf(source: AttributeSource, brand: string): readonly Field[] {
  return source.fieldsOf?.(brand) ?? source.fields
}

/** The source can look up given users but cannot list all users of the field: reconciliation answers 501 (row 16). */
export class NotListed extends Error {}
