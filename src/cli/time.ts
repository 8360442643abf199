import { InvalidArgumentError } from 'commander'
import { duration } from '../config/kinds.ts'

/** Reads the time of a flag, written as in the configuration: a bare number would leave open which unit is meant. @returns milliseconds */
export function time(text: string): number {
  const ms = duration({ says: '' }).parse(text, '')
  if (ms !== undefined) return ms
  throw new InvalidArgumentError(
    /^\d+$/.test(text)
      ? `Write the unit, too: ${text}s, ${text}min or ${text}h.`
      : 'Write a time with its unit: 500ms, 20s, 5min or 1h.',
  )
}
