import { type ReconciliationField as Field, reconciliationFields as fields } from '../contract/records.ts'

/** The nine fields of §2.5. */
export { type Field, fields }

/** Who is blocked, excluded, consenting: asked before every delivery. */
export interface AttributeSource {
  readonly name: string
  /** The fields it knows. Those it does not know are not asked. */
  readonly fields: readonly Field[]
  /** Of these users of this brand, who has the field true? Throwing means that it cannot answer: the message becomes fatal. */
  among(
    brand: string,
    userIds: readonly string[],
    fields: readonly Field[],
    context: { readonly deadline: number; readonly signal: AbortSignal },
  ): Promise<ReadonlyMap<Field, ReadonlySet<string>>>
}
