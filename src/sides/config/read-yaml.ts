import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import type { Problem } from './problem.ts'
import { emptyMap, type Origin, type Raw } from './raw.ts'
import { substituteVariables } from './substitute-variables.ts'

const maxDepth = 20

const mostAliases = 100

/**
 * Parses YAML into texts, lists and maps. Scalars stay text (the failsafe schema), because each setting parses its own text:
 * a brand keeps all its digits, and `no` is not a boolean.
 *
 * @param name the source in error messages: 'bellwire.yaml' becomes 'bellwire.yaml:12'
 * @param lines false: error messages name the source without a line number
 * @param env the variables that `${NAME}` in a text stands for, beside `${file:PATH}`; by default such a text is literal
 */
export function readYaml(
  source: string,
  name: string,
  base: string,
  problems: Problem[],
  { lines = true, env }: { readonly lines?: boolean; readonly env?: NodeJS.ProcessEnv } = {},
): Raw {
  const lineCounter = new LineCounter()
  const document = parseDocument(source, { schema: 'failsafe', lineCounter, prettyErrors: false })
  const originAt = (offset: number | undefined): Origin => {
    return { where: lines ? `${name}:${lineCounter.linePos(offset ?? 0).line}` : name, base }
  }
  // Only the first: further syntax errors follow from it.
  const [error] = document.errors
  if (error) {
    const { where } = originAt(error.pos[0])
    const unquoted = env !== undefined && /[^"']\$\{/.test(lineAt(source, error.pos[0]))
    problems.push({
      path: '',
      where,
      description: `invalid YAML: ${error.message}`,
      ...(unquoted && { remedy: 'write "${NAME}" in quotes' }),
    })
    return emptyMap(originAt(0))
  }
  const substitute = (text: string, { where }: Origin): string => {
    if (!env) return text
    const substituted = substituteVariables(text, env, base)
    for (const problem of substituted.problems) problems.push({ path: '', where, ...problem })
    return substituted.text
  }

  let aliases = 0
  const convert = (yamlNode: unknown, depth: number): Raw => {
    // Aliases of aliases would take hours.
    if (isAlias(yamlNode) && ++aliases > mostAliases) {
      const { where } = originAt(yamlNode.range?.[0])
      if (aliases === mostAliases + 1)
        problems.push({
          path: '',
          where,
          description: `more than ${mostAliases} aliases`,
          remedy: 'write the values out',
        })
      return emptyMap(originAt(0))
    }
    const node = isAlias(yamlNode) ? yamlNode.resolve(document) : (yamlNode as Node | null | undefined)
    const origin = originAt(node?.range?.[0])
    if (depth > maxDepth) {
      problems.push({ path: '', where: origin.where, description: `nested more than ${maxDepth} levels deep` })
      return { type: 'text', text: '', origin }
    }
    if (isSeq(node)) return { type: 'list', items: node.items.map((item) => convert(item, depth + 1)), origin }
    if (isMap(node)) {
      const map = emptyMap(origin)
      for (const { key, value } of node.items) {
        const keyNode = key as Node
        map.entries.set(isScalar(keyNode) ? String(keyNode.value) : String(keyNode), {
          origin: originAt(keyNode.range?.[0]),
          value: convert(value, depth + 1),
        })
      }
      return map
    }
    const quoted = isScalar(node) && node.type !== undefined && node.type !== 'PLAIN'
    const text = isScalar(node) ? substitute(String(node.value ?? ''), origin) : ''
    return { type: 'text', text, origin, ...(quoted && { quoted }) }
  }
  return convert(document.contents, 0)
}

function lineAt(source: string, offset: number): string {
  const start = source.lastIndexOf('\n', offset - 1) + 1
  const end = source.indexOf('\n', offset)
  return source.slice(start, end === -1 ? undefined : end)
}
