// Parsers of options that are numbers. This file loads no schema, so that a command starts fast.

import { InvalidArgumentError } from 'commander'
import { brand } from '../../base/runtime/kinds.ts'

/** A parser of a whole number in this range. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d{1,16}$/.test(text) && value >= least && value <= most) return value
    throw new InvalidArgumentError(
      `Give a whole number ${most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`}.`,
    )
  }
}

/** Parses the number of a brand, which stays a text. */
export function brandNumber(text: string): string {
  const { parse, expected } = brand({ help: '' })
  if (parse(text, '') === undefined) throw new InvalidArgumentError(`Give ${expected}.`)
  return text
}
