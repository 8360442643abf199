// How the rows of one brand are found in a table, and copied to another database. Each table's owner describes its own table.

/** SQL: the numbers to add to identity columns and to their references, by table. Example: `{ items: '20000000000000' }`. */
export type NumberShifts = Readonly<Record<string, string>>

/** One of `brand`, `lane`, `belongs` and `key` says how the rows of a brand are found. */
export interface BrandTable {
  readonly table: string
  /** The column with the brand: '12'. */
  readonly brand?: string
  /** The column with a lane ('12/push'), or with another text that begins with the brand and a slash. */
  readonly lane?: string
  /** SQL: whether the row `t` belongs to the brand. `isOfBrand` compares a column with a lane. */
  readonly belongs?: (isOfBrand: (lane: string) => string) => string
  /** The column by which rows of other tables refer to this table (`refersTo`). Its rows may exist in the other database already. */
  readonly key?: string
  /** SQL for the row `t`: the keys of rows in other tables, by table. It may return several rows or null. */
  readonly refersTo?: Readonly<Record<string, string>>
  /** The identity column. In the other database, all its numbers are shifted by one constant. */
  readonly identity?: string
  /** SQL for the row `t`: the columns that refer to shifted numbers. */
  readonly shifted?: (shifts: NumberShifts) => Readonly<Record<string, string>>
  /** Triggers derive the rows from other tables. They are not copied. */
  readonly derived?: true
  /** SQL for the row `row`: an attempt is under way, begun at `updated_at` (epoch milliseconds) by the session `owner`. */
  readonly inFlight?: (row: string) => string
  /** Deleting a row is a person's change, so it is refused while the brand is moved. Retention deletes no row of this table. */
  readonly deletedByPeople?: true
}
