import type { Benchmark } from '../harness/benchmark.ts'
import { bareServer, compareServers, single } from '../harness/operator-contender.ts'

const answerer = {
  name: 'a socket that answers',
  program: 'answerer.ts',
  args: [],
  cleanUp: async () => {},
}

/** Checks the load generator: it must be faster than the fastest measured server. */
export const loadCeiling: Benchmark = {
  name: 'load-ceiling',
  goal: 1.5,
  baseline: 'bare node:http + JSON.parse',
  about: 'the load generator alone, against a socket that answers without reading: it must not be the limit',
  start: (options) => compareServers(single(64), answerer, bareServer, options),
}
