/** A problem in the configuration or in options, with its remedy. */
export interface Problem {
  /** 'operator.limits.batch' */
  readonly path: string
  /** For example 'bellwire.yaml:12', or the name of an environment variable. */
  readonly where: string
  readonly description: string
  readonly remedy?: string
}

/** A problem whose place follows from its path. */
export type Fault = Omit<Problem, 'where'>

/** All problems of a configuration at once. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

function formatProblem({ path, where, description, remedy }: Problem): string {
  const head = [where, path].filter((part) => part !== '').join('  ')
  return `${head}: ${description}${remedy ? `\n    ${remedy}` : ''}`
}
