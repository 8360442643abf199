export { closestName } from '../runtime/closest-name.ts'
export { ConfigError, type Fault, type Problem } from '../runtime/problem.ts'
