/** One thing that is wrong, and how to put it right. */
export interface Problem {
  /** 'operator.limits.batch' */
  readonly path: string
  /** 'bellwire.yaml:12', or the name of the environment variable. */
  readonly where: string
  readonly what: string
  readonly remedy?: string
}

/** Everything that is wrong with the configuration, at once. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(phrase).join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

function phrase({ path, where, what, remedy }: Problem): string {
  const head = [where, path].filter((part) => part !== '').join('  ')
  return `${head}: ${what}${remedy ? `\n    ${remedy}` : ''}`
}
