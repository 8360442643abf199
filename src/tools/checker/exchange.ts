// One request of the checker and its answer, as recorded. Judgements read only these records.

/** The API key of a request. The key itself is never recorded. */
export type KeyUse = 'right' | 'none' | 'other' | 'shortened' | 'lengthened' | 'other_case' | 'empty'

export interface SentRequest {
  readonly method: string
  /** The complete address. */
  readonly url: string
  /** Without the API key. */
  readonly headers: Readonly<Record<string, string>>
  readonly key: KeyUse
  /** The spelling of the header of the key. */
  readonly keyHeader: string
  readonly body: string
  /** A peculiarity of the sending: 'in 5 pieces over 500 ms'. */
  readonly note?: string
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded as UTF-8. */
  readonly body: string
  /** False if the connection ended inside the body. */
  readonly complete: boolean
}

/** The reason why an exchange has no complete answer. */
export interface Lost {
  readonly how: 'unreachable' | 'cut' | 'timeout' | 'not_http' | 'too_long'
  readonly detail: string
  /**
   * operator: another request was answered right afterwards, so the operator did not answer this request.
   * crash: the operator could not be reached right after the checker had closed a connection on purpose.
   * connection: the operator could not be reached at all, which is no finding about the operator.
   */
  readonly blame: 'operator' | 'crash' | 'connection'
}

export interface Exchange {
  /** The purpose of the request in its scenario: 'the same message again'. */
  readonly label: string
  readonly request: SentRequest
  readonly answer?: Answer
  readonly lost?: Lost
  /** The checker closed the connection on purpose, before it read the answer. */
  readonly abandoned?: true
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly ms: number
}
