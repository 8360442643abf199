/** Compares two texts, to sort them. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Compares two ids, which are numbers of up to 19 digits: a shorter one is smaller. No id comes first. */
export function compareIds(a: string | null, b: string | null): number {
  const [first, second] = [a ?? '', b ?? '']
  return first.length - second.length || compare(first, second)
}
