import { StoreUnavailable } from '../store/store-unavailable.ts'
import { CliError, exit } from './exit.ts'

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

/** The error for a store that cannot be opened: unreachable (perhaps temporarily), or wrongly configured. */
export function storeError(error: unknown, side: string): CliError {
  const { message, cause, code } = error as Error & { code?: string; cause?: { code?: string } }
  const unreachable =
    error instanceof StoreUnavailable || connectionErrors.has(cause?.code ?? '') || connectionErrors.has(code ?? '')
  return new CliError(unreachable ? exit.unreachable : exit.usage, `${side}.store: ${message}`)
}
