import { shortened } from './storable.ts'

/**
 * Formats an untrusted value for a message to people: as JSON, shortened. JSON.stringify is recursive, so a value nested 100,000
 * levels deep makes it throw; this function returns a description instead.
 *
 * @example shown({ a: 1 }) // '{"a":1}'
 */
export function shown(value: unknown, most = 100): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value, most))
  try {
    return shortened(JSON.stringify(value) ?? String(value), most)
  } catch {
    return `${Array.isArray(value) ? 'an array' : 'an object'} that is nested too deeply to be shown`
  }
}
