/** Something that a person should learn of. */
export interface Trouble {
  /** Identifies the trouble: 'lane 1/push is held'. */
  readonly name: string
  readonly says: string
  /** The remedy, with the command to type. */
  readonly remedy: string
  /** Epoch milliseconds. */
  readonly since: number
  /** A person has to act, so that waiting would help nothing. */
  readonly urgent: boolean
}

export type Told = Pick<Trouble, 'name' | 'says' | 'remedy'> & { readonly urgent?: boolean }
