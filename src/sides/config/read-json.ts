import type { Json } from '../../base/runtime/json.ts'
import type { Problem } from './problem.ts'
import type { Raw } from './raw.ts'

/**
 * Converts YAML to JSON by YAML's core schema: unquoted 5, true and null keep their types, quoted scalars are texts.
 *
 * @example readJson(readYaml('{to: ["{{user_id}}"], ttl: 5, note: "5"}', …), 'body', problems) // { to: ['{{user_id}}'], ttl: 5, note: '5' }
 */
export function readJson(raw: Raw, path: string, problems: Problem[]): Json {
  switch (raw.type) {
    case 'text':
      return raw.quoted ? raw.text : readPlain(raw, path, problems)
    case 'list':
      return raw.items.map((item, i) => readJson(item, `${path}[${i}]`, problems))
    case 'map': {
      const placeholder = [...raw.entries.keys()].find((key) => key.startsWith('{'))
      if (placeholder === undefined)
        return Object.fromEntries(
          [...raw.entries].map(([name, { value }]) => [name, readJson(value, `${path}.${name}`, problems)]),
        )
      // YAML reads an unquoted {{user_id}} as a nested map.
      const description = 'a placeholder without quotes'
      problems.push({ path, where: raw.origin.where, description, remedy: 'quote it: "{{name}}"' })
      return null
    }
  }
}

const words: Readonly<Record<string, Json>> = { '': null, '~': null, null: null, true: true, false: false }

function readPlain({ text, origin }: Raw & { type: 'text' }, path: string, problems: Problem[]): Json {
  if (Object.hasOwn(words, text)) return words[text] as Json
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return text
  const number = Number(text)
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(number)) {
    const description = `${text} has too many digits for a number`
    problems.push({ path, where: origin.where, description, remedy: 'quote it, so that it is a text' })
  }
  return number
}
