import { StoreUnavailable } from './store-unavailable.ts'

const connectionErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  '57P03',
  '53300',
])
/** Errors of pg that have no code. */
const connectionMessages = /^(timeout expired|Connection terminated)/

/** Whether a store was not opened because it cannot be reached now. Otherwise its address or its contents are wrong. */
export function isUnreachable(error: unknown): boolean {
  const { cause, code } = error as { code?: string; cause?: { code?: string; message?: string } }
  return (
    error instanceof StoreUnavailable ||
    connectionErrors.has(cause?.code ?? '') ||
    connectionErrors.has(code ?? '') ||
    connectionMessages.test(cause?.message ?? '')
  )
}
