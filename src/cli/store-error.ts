import { StoreUnavailable } from '../store/store-unavailable.ts'
import { CliError, exit } from './exit.ts'

const away = new Set([
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

/** A store that cannot be opened, as the end of a command: unreachable (perhaps only now), or wrongly configured. */
export function storeError(error: unknown, side: string): CliError {
  const { message, cause, code } = error as Error & { code?: string; cause?: { code?: string } }
  const unreachable = error instanceof StoreUnavailable || away.has(cause?.code ?? '') || away.has(code ?? '')
  return new CliError(unreachable ? exit.unreachable : exit.usage, `${side}.store: ${message}`)
}
