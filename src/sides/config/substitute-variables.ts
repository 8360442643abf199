import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../base/runtime/message-of.ts'

const variable = /(\$?)\$\{([^}]*)(\}?)/g

/**
 * Replaces each `${NAME}` of a text by the value of the environment variable, and each `${file:PATH}` by the content of the file
 * without its last line end; `$${` stays a literal `${`.
 *
 * @param base the folder to which relative paths refer
 * @returns the text, and a problem for each variable or file that cannot be used. An empty one counts as not set
 * @example substituteVariables('postgres://${HOST}/db', { HOST: 'main' }, '/etc').text // 'postgres://main/db'
 */
export function substituteVariables(
  text: string,
  env: NodeJS.ProcessEnv,
  base: string,
): { text: string; problems: Unusable[] } {
  const problems: Unusable[] = []
  const replaced = text.replaceAll(variable, (written: string, escaped: string, name: string, end: string) => {
    if (escaped) return written.slice(1)
    const value = end ? valueOfReference(name, env, base) : notAName
    if (typeof value === 'string') return value
    problems.push(value)
    return ''
  })
  return { text: replaced, problems }
}

/** The files that the texts of a configuration name with `${file:PATH}`. */
export const filesOf = (text: string, base: string): readonly string[] =>
  [...text.matchAll(variable)]
    .filter(([, escaped, name]) => !escaped && name?.startsWith(filePrefix))
    .map(([, , name = '']) => resolve(base, name.slice(filePrefix.length)))

type Unusable = { readonly description: string; readonly remedy: string }

const filePrefix = 'file:'

const notAName: Unusable = {
  description: '${ is not followed by the name of an environment variable, or by file: and a path, and }',
  remedy: 'write ${NAME}, ${file:PATH}, or $${ for a literal ${',
}

function valueOfReference(name: string, env: NodeJS.ProcessEnv, base: string): string | Unusable {
  if (name.startsWith(filePrefix)) return readValue(resolve(base, name.slice(filePrefix.length)))
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return notAName
  return (
    env[name] || {
      description: `the environment variable ${name} is not set`,
      remedy: `set ${name}, or write $\${${name}} for the literal text`,
    }
  )
}

function readValue(path: string): string | Unusable {
  const remedy = 'write the value into the file, readable by the user who runs Bellwire'
  try {
    return readFileSync(path, 'utf8').trimEnd() || { description: `the file ${path} is empty`, remedy }
  } catch (error) {
    return { description: `the file ${path} cannot be read: ${messageOf(error)}`, remedy }
  }
}
