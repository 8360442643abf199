/** Ranges of consecutive numbers: a few ranges represent a million line numbers or queue numbers. */
export type Ranges = [from: number, to: number][]

/** Appends a number that is larger than the last. */
export function push(ranges: Ranges, value: number): void {
  const last = ranges.at(-1)
  if (last && last[1] + 1 === value) last[1] = value
  else ranges.push([value, value])
}

export function* each(ranges: Ranges): Generator<number> {
  for (const [from, to] of ranges) for (let value = from; value <= to; value++) yield value
}

export function size(ranges: Ranges): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
}
