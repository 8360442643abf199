export interface ProofOptions {
  /** Whether to run in the small size of `npm test`. The code is the same. */
  readonly small: boolean
  /** A folder for stores and the witness's file. It is removed after a successful proof. */
  readonly folder: string
  readonly print: (line: string) => void
}

export type Figures = Readonly<Record<string, number | string>>

/** @example { name: 'resend', claims: 'a file that is sent twice is delivered once', run } */
export interface Proof {
  readonly name: string
  /** The proved statement, in one sentence. */
  readonly claims: string
  /** The required services, see test/support/services. */
  readonly needs?: readonly ('postgres' | 'rabbitmq' | 'kafka' | 'go' | 'nghttpd' | 'nginx' | 'promtool')[]
  /** `npm test` leaves it out: it lasts too long, or another proof has its claim in small size. `npm run prove` runs it in both sizes. */
  readonly onlyByHand?: boolean
  /** The time limit of the proof, in seconds. */
  readonly boundSeconds: { readonly small: number; readonly full: number }
  /**
   * Whether it waits for the end of a lease on PostgreSQL: in small size a lease is 2 s. On a slow machine, a process that nobody
   * stopped may lose such a lease and repeat a call, so the proof must allow a repetition for each uncertain attempt.
   */
  readonly outlastsLeases?: boolean
  /** Rejects with an AssertionError if the claim does not hold. Resolves with the figures. */
  run(options: ProofOptions, signal: AbortSignal): Promise<Figures>
}
