// The interface of the ways by which statuses are pushed to a platform. The implementations are in senders/.

import type { PostContext } from '../../base/http-client/call-platform.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { MessageStatus } from '../../contract/status.ts'
import type { StatusRecord } from '../../contract/status-record.ts'

export interface StatusSender {
  readonly name: string
  /** Most records in one call, and most concurrent calls. Concurrent calls never have records of the same message. */
  readonly max: number
  readonly concurrency: number
  /** Whether the platform knows this status. Others are not sent to it. */
  readonly supports: (status: MessageStatus) => boolean
  /**
   * Returns one outcome for each record, in order. `failed` means rejected for good (row 19). After a fatal record, no later
   * record of the same message is sent. Never rejects.
   */
  send(records: readonly StatusRecord[], context: PostContext): Promise<readonly Outcome[]>
  close(): Promise<void>
}
