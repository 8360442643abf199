import { messageOf } from '../runtime/message-of.ts'
import { RowsUnavailable, StoreUnavailable } from './store-unavailable.ts'

/** The SQLSTATE of a trigger that refuses rows which cannot be changed now (queue/owners/brand-moves.ts). */
export const rowsUnavailable = 'BW001'

/** Classifies a statement's error by its SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function classifyError(error: unknown): 'lost' | 'unavailable' | 'refused' {
  const { code, severity } = error as { code?: string; severity?: string }
  // Not from the server: the socket failed, or pg found its connection closed.
  if (severity === undefined || code === undefined) return error instanceof RangeError ? 'refused' : 'lost'
  if (severity === 'FATAL' || severity === 'PANIC' || /^(08|57P)/.test(code)) return 'lost'
  // 25006: this server has become a read-only standby, and another server is the primary.
  if (code === '25006') return 'lost'
  // Disk full, out of memory, cancelled, blocked by DDL, I/O error: not caused by the rows of any caller.
  if (/^(53|58)/.test(code) || code === '57014' || code === '55P03') return 'unavailable'
  return 'refused'
}

/** The SQLSTATE of a user without the right. */
export const mayNot = '42501'
export const freeConnections = 'the server has no free connections: raise max_connections, or close unused ones'

const remedies: Readonly<Record<string, string>> = {
  '28P01': 'check the password in store',
  '28000': 'check the user in store, and pg_hba.conf',
  '3D000': 'create the database, or name another one in store',
  [mayNot]: 'grant the user of store the right to create tables in the schema',
  '53300': freeConnections,
}

/** The reason why a connection was not opened, and what to do. pg throws a TypeError of its own if the password is missing. */
export function explainConnectError(error: unknown): { readonly reason: string; readonly remedy: string } {
  const reason = messageOf(error)
  if (/client password must be a string/.test(reason))
    return { reason: 'the server wants a password', remedy: 'write postgres://USER:PASSWORD@HOST/DATABASE in store' }
  const { code = '' } = error as { readonly code?: string }
  return { reason, remedy: remedies[code] ?? 'check that it is running, and check the address in store' }
}

/** Converts an error for the caller: StoreUnavailable, unless the statement itself was refused. */
export function toCallerError(error: unknown): unknown {
  if ((error as { code?: unknown }).code === rowsUnavailable)
    return new RowsUnavailable(messageOf(error), { cause: error })
  if (error instanceof StoreUnavailable || classifyError(error) === 'refused') return error
  return new StoreUnavailable(`PostgreSQL: ${messageOf(error)}`, { cause: error })
}
