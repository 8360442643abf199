export { closestName } from '../runtime/closest-name.ts'
export { ConfigError, type Problem } from '../runtime/problem.ts'
