// The plan of the two processes of the proof status-away.

export interface StatusPlan {
  readonly store: string
  readonly port: number
  /** The address of the other side. */
  readonly other: string
  /** The secret with which the operator signs its calls. */
  readonly secret: string
}
