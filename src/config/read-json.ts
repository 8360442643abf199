import type { Json } from '../runtime/json.ts'
import type { Problem } from './problem.ts'
import type { Raw } from './raw.ts'

/**
 * What was written as YAML, as JSON: plain words are what YAML's core schema says (5, true, null), quoted ones are texts.
 *
 * @example readJson(readYaml('{to: ["{{user_id}}"], ttl: 5, note: "5"}', …), 'body', problems) // { to: ['{{user_id}}'], ttl: 5, note: '5' }
 */
export function readJson(raw: Raw, path: string, problems: Problem[]): Json {
  switch (raw.type) {
    case 'text':
      return raw.quoted ? raw.text : plain(raw, path, problems)
    case 'list':
      return raw.items.map((item, i) => readJson(item, `${path}[${i}]`, problems))
    case 'map': {
      const odd = [...raw.entries.keys()].find((key) => key.startsWith('{'))
      if (odd === undefined)
        return Object.fromEntries(
          [...raw.entries].map(([name, { value }]) => [name, readJson(value, `${path}.${name}`, problems)]),
        )
      // YAML reads {{user_id}} without quotes as a map within a map.
      const what = 'a placeholder without quotes'
      problems.push({ path, where: raw.origin.where, what, remedy: 'write "{{name}}", in quotes' })
      return null
    }
  }
}

const words: Readonly<Record<string, Json>> = { '': null, '~': null, null: null, true: true, false: false }

function plain({ text, origin }: Raw & { type: 'text' }, path: string, problems: Problem[]): Json {
  if (Object.hasOwn(words, text)) return words[text] as Json
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return text
  const number = Number(text)
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(number)) {
    const what = `${text} is too long for a number`
    problems.push({ path, where: origin.where, what, remedy: 'write it in quotes, as a text' })
  }
  return number
}
