import { isUnreachable } from '../../base/store/unreachable.ts'
import { CliError, exit } from './exit.ts'

/** The error for a store that cannot be opened: unreachable (perhaps temporarily), or wrongly configured. */
export function storeError(error: unknown, side: string): CliError {
  const { message } = error as Error
  return new CliError(isUnreachable(error) ? exit.unreachable : exit.usage, `${side}.store: ${message}`)
}
