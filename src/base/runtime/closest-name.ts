import { distance } from 'fastest-levenshtein'

/** The known name closest to a misspelled one, for "did you mean …?"; undefined if no name is close enough. */
export function closestName(word: string, known: readonly string[]): string | undefined {
  const distanceTo = (other: string): number => distance(word.toLowerCase(), other.toLowerCase())
  const [closest] = known.toSorted((a, b) => distanceTo(a) - distanceTo(b))
  const allowed = Math.min(3, Math.max(2, Math.floor(word.length / 3)))
  return closest !== undefined && distanceTo(closest) <= allowed ? closest : undefined
}
