// The values of the options of `bellwire check`.

import { InvalidArgumentError } from 'commander'
import { wholeNumber } from '../numbers.ts'

export const commaSeparated = (text: string): readonly string[] => text.split(',').map((part) => part.trim())
export const collect = (text: string, before: readonly string[]): readonly string[] => [...before, text]

export const count = wholeNumber(0, 1_000_000)

export function digits(text: string): string {
  if (/^\d{1,19}$/.test(text)) return text
  throw new InvalidArgumentError('Give a number in digits.')
}

export const firstId = (text: string): bigint => BigInt(digits(text))
