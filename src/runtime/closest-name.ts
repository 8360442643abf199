import { distance } from 'fastest-levenshtein'

/** What was probably meant, or nothing: a wild guess helps less than the list of what there is. */
export function closestName(word: string, known: readonly string[]): string | undefined {
  const far = (other: string): number => distance(word.toLowerCase(), other.toLowerCase())
  const [likeliest] = known.toSorted((a, b) => far(a) - far(b))
  const allowed = Math.min(3, Math.max(2, Math.floor(word.length / 3)))
  return likeliest !== undefined && far(likeliest) <= allowed ? likeliest : undefined
}
