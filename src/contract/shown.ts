import { shortened } from './storable.ts'

/**
 * A value of somebody else as it stands in a message to people: as JSON, cut, and whatever it holds. JSON.stringify alone is
 * recursive: a value nested 100,000 levels deep would end the whole request.
 *
 * @example shown({ a: 1 }) // '{"a":1}'
 */
export function shown(value: unknown, most = 100): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value, most))
  try {
    return shortened(JSON.stringify(value) ?? String(value), most)
  } catch {
    return `${Array.isArray(value) ? 'an array' : 'an object'} that is nested too deep to be shown`
  }
}
