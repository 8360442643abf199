import type { Json } from '../../../base/runtime/json.ts'
import { type FindValue, jsonTemplate } from './template.ts'

/**
 * Compiles the request body. The allowed members of a message's overrides replace the template's members. Undefined: no body.
 *
 * @example
 * bodyTemplate({ to: '{{user_id}}' }, ['priority'])(findValue, { priority: 10, to: 'somebody else' }) // '{"to":"1001","priority":10}'
 */
export function bodyTemplate(
  body: Json | undefined,
  allowed: readonly string[],
): (findValue: FindValue, overrides: Readonly<Record<string, unknown>> | undefined) => string | undefined {
  if (body === undefined) return () => undefined
  const whole = jsonTemplate(body)
  // If all values are absent, the body is an empty value of the same JSON type.
  const empty = Array.isArray(body) ? '[]' : typeof body === 'object' && body !== null ? '{}' : 'null'
  if (allowed.length === 0) return (findValue) => whole(findValue) ?? empty
  const members = Object.entries(body as Readonly<Record<string, Json>>).map(
    ([name, value]) => [name, jsonTemplate(value)] as const,
  )
  return (findValue, overrides = {}) => {
    const rendered = new Map(members.map(([name, render]) => [name, render(findValue)]))
    for (const name of allowed) {
      if (Object.hasOwn(overrides, name)) rendered.set(name, JSON.stringify(overrides[name]))
    }
    const present = [...rendered].filter(([, json]) => json !== undefined)
    return `{${present.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  }
}
