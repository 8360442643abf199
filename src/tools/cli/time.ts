import { InvalidArgumentError, Option } from 'commander'
import { duration } from '../../base/runtime/kinds.ts'

/** Parses the duration of an option, written with its unit as in the configuration. @returns milliseconds */
export function time(text: string): number {
  const ms = duration({ help: '' }).parse(text, '')
  if (ms !== undefined) return ms
  throw new InvalidArgumentError(
    /^\d+$/.test(text)
      ? `Add the unit: ${text}s, ${text}min or ${text}h.`
      : 'Give a time with its unit: 500ms, 20s, 5min or 1h.',
  )
}

/** @param standard the default: '10s' */
export const timeOption = (flags: string, help: string, standard: string): Option =>
  new Option(flags, help).argParser(time).default(time(standard), standard)
