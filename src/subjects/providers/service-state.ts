// Whether a push service or a provider sends, as a person asks for it.

/** The state of a push service or a provider, in this process. */
export interface ServiceState {
  /** The name of its credential in the configuration. */
  readonly name: string
  /** Sends that wait, because the most sends are in flight, or for its rate. */
  readonly waiting: number
  /** Absent: it is not paused. */
  readonly pause?: ServicePause
  /** The counterparts that were sent to; see PushService. Absent: there is one counterpart. */
  readonly counterparts?: readonly CounterpartState[]
}

export interface CounterpartState {
  readonly name: string
  /** It accepted a send since the credential was loaded. */
  readonly accepted: boolean
  readonly pause?: ServicePause
}

export interface ServicePause {
  /** The error that paused it. */
  readonly reason: string
  /** Time until the next send is tried. 0: the next message is tried. */
  readonly restMs: number
}
