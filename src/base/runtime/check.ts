/** One finding of `bellwire doctor`. */
export interface Check {
  readonly ok: boolean
  /** Nothing is broken, but a person should know. */
  readonly warning?: true
  /** The finding: 'FCM accepts the service account of project p-1'. */
  readonly description: string
  /** How to fix the problem. Present if `ok` is false, and with a warning. */
  readonly remedy?: string
}

export const passes = (description: string): Check => ({ ok: true, description })

export const warns = (description: string, remedy: string): Check => ({ ok: true, warning: true, description, remedy })

export const fails = (description: string, remedy: string): Check => ({ ok: false, description, remedy })
