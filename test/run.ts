// npm test: runs all test files, or those that the arguments name. The slow files start first, so that no long file is left alone at
// the end. `node --test` would start the files in the order of their names.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { quickImports } from './support/quick-imports/bundle-packages.ts'
import { globalSetup, globalTeardown } from './support/services/global-setup.ts'

const slowFiles = [
  'test/prove/shard-*.test.ts',
  'test/package.test.ts',
  'test/checker/*.test.ts',
  'test/{e2e,widget}/*.test.ts',
  'test/cli/*.test.ts',
]
/** More than the machine has cores: a proof mostly waits. */
const concurrency = 6

// Much of the processor time of a test is the start of its processes: they strip the types of the source, and compile it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compile')
const named = process.argv.slice(2)
const patterns = named.length > 0 ? named : [...slowFiles, 'test/**/*.test.ts']
const files = patterns.flatMap((pattern) => globSync(pattern).sort())
/** With a larger space for new objects, a process collects its garbage less often. */
const execArgv = [await quickImports(), '--max-semi-space-size=16', '--min-semi-space-size=16']
await globalSetup()
const tests = run({ files: [...new Set(files)], concurrency, timeout: 240_000, execArgv })
tests.on('test:fail', () => (process.exitCode = 1))
await pipeline(tests, new spec(), process.stdout, { end: false })
await globalTeardown()
