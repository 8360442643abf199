export { closestName } from '../../base/runtime/closest-name.ts'
export { ConfigError, type Fault, type Problem } from '../../base/runtime/problem.ts'
