/**
 * Replaces each `${NAME}` of a text by the value of the environment variable; `$${` stays a literal `${`.
 *
 * @returns the text, and a problem for each variable that cannot be used. An empty variable counts as not set
 * @example substituteVariables('postgres://${HOST}/db', { HOST: 'main' }).text // 'postgres://main/db'
 */
export function substituteVariables(text: string, env: NodeJS.ProcessEnv): { text: string; problems: Unusable[] } {
  const problems: Unusable[] = []
  const replaced = text.replaceAll(
    /(\$?)\$\{([^}]*)(\}?)/g,
    (written: string, escaped: string, name: string, end: string) => {
      if (escaped) return written.slice(1)
      const value = env[name]
      if (!end || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) problems.push(notAName)
      else if (!value)
        problems.push({
          description: `the environment variable ${name} is not set`,
          remedy: `set ${name}, or write $\${${name}} for the literal text`,
        })
      return value ?? ''
    },
  )
  return { text: replaced, problems }
}

type Unusable = { readonly description: string; readonly remedy: string }

const notAName: Unusable = {
  description: '${ is not followed by the name of an environment variable and }',
  remedy: 'write ${NAME}, or $${ for a literal ${',
}
