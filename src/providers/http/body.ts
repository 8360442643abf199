import type { Json } from '../../runtime/json.ts'
import { jsonTemplate, type Look } from './template.ts'

/**
 * The request body, and beside it what the message may set itself: the allowed members of its overrides take the place of the
 * template's. Undefined: there is no body.
 *
 * @example
 * bodyTemplate({ to: '{{user_id}}' }, ['priority'])(look, { priority: 10, to: 'somebody else' }) // '{"to":"1001","priority":10}'
 */
export function bodyTemplate(
  body: Json | undefined,
  allowed: readonly string[],
): (look: Look, overrides: Readonly<Record<string, unknown>> | undefined) => string | undefined {
  if (body === undefined) return () => undefined
  const whole = jsonTemplate(body)
  // Where everything is absent, an empty body of the same kind is still JSON.
  const empty = Array.isArray(body) ? '[]' : typeof body === 'object' && body !== null ? '{}' : 'null'
  if (allowed.length === 0) return (look) => whole(look) ?? empty
  const members = Object.entries(body as Readonly<Record<string, Json>>).map(
    ([name, value]) => [name, jsonTemplate(value)] as const,
  )
  return (look, overrides = {}) => {
    const written = new Map(members.map(([name, render]) => [name, render(look)]))
    for (const name of allowed) {
      if (Object.hasOwn(overrides, name)) written.set(name, JSON.stringify(overrides[name]))
    }
    const shown = [...written].filter(([, json]) => json !== undefined)
    return `{${shown.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  }
}
