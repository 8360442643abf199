import { InvalidArgumentError } from 'commander'

/** A parser of an option whose value is a whole number in this range. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d{1,16}$/.test(text) && value >= least && value <= most) return value
    throw new InvalidArgumentError(
      `Give a whole number ${most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`}.`,
    )
  }
}
