// What both sides answer under /admin/messages, as far as `bellwire explain` reads it. The texts of messages are not read.

export type SideName = 'platform' | 'operator'

/** A side that is asked. */
export interface AskedSide {
  readonly name: SideName
  get(path: string): Promise<unknown>
}

interface ListedMessage {
  /** With the brand, the same on both sides (row 29). */
  readonly key: string
  readonly outcome: string
  readonly ref?: string
}

/** A message in a list of the platform. */
export interface PlatformRow extends ListedMessage {
  readonly seq: number
  readonly lane: string
  readonly enqueued_at: number
}

/** A message in a list of the operator. */
export interface OperatorRow extends ListedMessage {
  readonly ref: string
  readonly brand: string
  readonly updated_at: number
}

export interface Identifier {
  readonly ref: string
  /** The time of the replay that ended it. */
  readonly replayed_at: number | null
}

interface Call {
  readonly id: string
  readonly provider: string
  readonly at: number
  readonly ms: number
  readonly messages: number
  readonly rule: string
  readonly answer: string | null
  readonly error: string | null
}

export interface Pause {
  readonly scope: 'lane' | 'brand'
  readonly activity?: string
  readonly action?: string
  readonly held_back: number
  readonly by: string
  readonly reason: string
  readonly since: number
  readonly until?: number
}

/** GET /admin/messages/SEQ of the platform. */
export interface PlatformMessage extends PlatformRow {
  readonly attempts?: number
  readonly replays?: number
  readonly rule?: string
  readonly reason?: string
  readonly error?: string
  readonly call?: string
  readonly untracked?: true
  readonly erased?: true
  readonly transactional?: true
  readonly expires_at?: number
  readonly settled_at?: number
  readonly failed?: { readonly state: string; readonly decided_by: string | null; readonly decided_at: number | null }
  readonly identifiers: readonly Identifier[]
  /** How far the message came, as its operator reported. */
  readonly status?: string
  readonly statuses?: readonly { readonly status: string; readonly at: string; readonly ref: string }[]
  readonly history: readonly {
    readonly attempt: number
    readonly at: number
    readonly outcome: string
    readonly status: number | null
    readonly rule: string
    readonly reason: string
    readonly error: string
    readonly answer: string | null
    readonly call: string | null
    readonly replayed_by: string | null
    readonly replayed_at: number | null
  }[]
  readonly calls: readonly Call[]
  readonly lane_owner?: string
  readonly lane_state?: {
    readonly state: string
    readonly held_for_ms: number
    readonly held_reason?: string
    readonly next_try_at?: number
    readonly last_error?: string
    readonly pauses: readonly Pause[]
  }
  /** The row of the send path, if the platform delivers the message itself. */
  readonly delivery?: OperatorMessage
}

/** GET /admin/messages/IDENTIFIER of the operator. */
export interface OperatorMessage extends OperatorRow {
  readonly rule: string
  readonly error: string | null
  readonly attempts: number
  readonly uncertain: number
  readonly owner: string
  readonly claimed_at: number
  readonly refusals: readonly {
    readonly attempt: number
    readonly at: number
    readonly category: string
    readonly reason: string
    readonly rule: string
    readonly answer: string | null
    readonly error: string | null
    readonly call: string | null
    readonly uncertain: number
  }[]
  readonly calls: readonly Call[]
  readonly devices: readonly {
    readonly attempt: number
    readonly device: string
    readonly service: string
    readonly category: string
    readonly rule: string
    readonly answer: string | null
    readonly error: string | null
    readonly provider_id: string | null
    readonly uncertain: number
    readonly at: number
  }[]
}
