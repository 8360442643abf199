export interface ProofOptions {
  /** The size that `npm test` runs: the same code, minutes less. */
  readonly small: boolean
  /** A folder for stores and the witness's file; removed afterwards if the proof held. */
  readonly folder: string
  readonly say: (line: string) => void
}

export type Figures = Readonly<Record<string, number | string>>

/** @example { name: 'resend', claims: 'the same file twice delivers nothing twice', run } */
export interface Proof {
  readonly name: string
  /** What is proved, in a sentence. */
  readonly claims: string
  /** Services that must be had, see test/support/services. */
  readonly needs?: readonly ('postgres' | 'rabbitmq' | 'kafka')[]
  /** Ends the proof if it takes longer, in seconds. */
  readonly boundSeconds: { readonly small: number; readonly full: number }
  /** Rejects with an AssertionError if the claim does not hold; resolves with what was counted. */
  run(options: ProofOptions, signal: AbortSignal): Promise<Figures>
}
