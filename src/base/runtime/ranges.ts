/** Ranges of consecutive numbers: a few ranges represent a million line numbers or queue numbers. */
export type Ranges = [from: number, to: number][]

/** Appends a number that is larger than the last. */
export function push(ranges: Ranges, value: number): void {
  const last = ranges.at(-1)
  if (last && last[1] + 1 === value) last[1] = value
  else ranges.push([value, value])
}

/** @example toRanges([1, 2, 3, 7]) // [[1, 3], [7, 7]] */
export function toRanges(sorted: readonly number[]): Ranges {
  const ranges: Ranges = []
  for (const value of sorted) push(ranges, value)
  return ranges
}

export function* each(ranges: Ranges): Generator<number> {
  for (const [from, to] of ranges) for (let value = from; value <= to; value++) yield value
}

export function size(ranges: Ranges): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
}
