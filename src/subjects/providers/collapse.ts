import { createHash } from 'node:crypto'

/**
 * The collapse identity of a message (docs/contributing/decisions.md): at most `most` letters, digits, `-` and `_`, the same on every attempt. Our
 * own identifiers are used unchanged, or without hyphens if they would be too long.
 *
 * @example collapseId('0192f0c1-7d2a-7cc3-98c4-dc0c0c07398f', 32) // '0192f0c17d2a7cc398c4dc0c0c07398f'
 */
export function collapseId(ref: string, most: number): string {
  if (ref.length <= most && fits(ref)) return ref
  const short = ref.replaceAll('-', '')
  if (short.length <= most && fits(short)) return short
  return createHash('sha256').update(ref).digest('base64url').slice(0, most)
}

const fits = (text: string): boolean => /^[A-Za-z0-9_-]+$/.test(text)
