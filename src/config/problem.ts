export { meant } from '../runtime/meant.ts'
export { ConfigError, type Problem } from '../runtime/problem.ts'
