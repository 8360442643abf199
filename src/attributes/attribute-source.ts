import { type ReconciliationField as Field, reconciliationFields as fields } from '../contract/records.ts'

/** The nine fields of §2.5. */
export { type Field, fields }

export interface LookUp {
  /** Epoch milliseconds; an answer that comes later is not waited for. */
  readonly deadline: number
  readonly signal: AbortSignal
}

/**
 * Some ids, whole ones only. `json`: UTF-8 as it stands in the answer, each id as a JSON string with a comma before it
 * (`,"1001","1002"`), `count` of them; these bytes are good until the next chunk is asked for, and may then be used for other
 * things. `ids`: still to be written as JSON.
 */
export type IdChunk = { readonly json: Uint8Array; readonly count: number } | { readonly ids: readonly string[] }

/** Everybody for whom a field is true, as of one moment. */
export interface Snapshot {
  /** That moment on the source's own clock, ISO 8601 in UTC, taken before the first row. */
  readonly timestamp: string
  /** Read once. Leaving it early (return) or the signal ends the query at the source. Throwing means that the list is not whole. */
  readonly chunks: AsyncIterable<IdChunk>
}

/**
 * Who is blocked, excluded, consenting. The same source refuses messages before each delivery (design §5.3) and answers
 * reconciliation (§2.5), so that the two cannot disagree.
 */
export interface AttributeSource {
  readonly name: string
  /** The fields that it knows. Those that it does not know are not asked. */
  readonly fields: readonly Field[]
  /** Where not all brands have the same: the fields that it knows of this brand. */
  fieldsOf?(brand: string): readonly Field[]
  /** Of these users of this brand, who has the field true? Throwing means that it cannot answer: the message becomes fatal. */
  among(
    brand: string,
    userIds: readonly string[],
    fields: readonly Field[],
    context: LookUp,
  ): Promise<ReadonlyMap<Field, ReadonlySet<string>>>
  /**
   * All users of this brand for whom the field is true. Rejects when it cannot begin, with NotListed where it never can.
   * Absent: it cannot list, and reconciliation answers 501.
   */
  all?(brand: string, field: Field, options: { readonly signal: AbortSignal }): Promise<Snapshot>
  close?(): Promise<void>
}

/** @example fieldsOf(source, '1') // ['blocked', 'excluded'] */
export function fieldsOf(source: AttributeSource, brand: string): readonly Field[] {
  return source.fieldsOf?.(brand) ?? source.fields
}

/** This source says of some users who has the field, but does not list them all: reconciliation answers 501 (row 16). */
export class NotListed extends Error {}
