// npm test: runs all test files. The slow files start first, so that no long file is left alone at the end. `node --test` would start
// the files in the order of their names.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { globalSetup, globalTeardown } from './support/services/global-setup.ts'

const slowFiles = [
  'test/prove/shard-*.test.ts',
  'test/package.test.ts',
  'test/checker/*.test.ts',
  'test/{e2e,widget}/*.test.ts',
  'test/cli/*.test.ts',
]
/** More than the machine has cores: a proof mostly waits. */
const concurrency = 4

// Most of the processor time of a test process is its start: it strips the types of the source and compiles it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compile')
const files = [...slowFiles, 'test/**/*.test.ts'].flatMap((pattern) => globSync(pattern).sort())
await globalSetup()
const tests = run({ files: [...new Set(files)], concurrency, timeout: 240_000 })
tests.on('test:fail', () => (process.exitCode = 1))
await pipeline(tests, new spec(), process.stdout, { end: false })
await globalTeardown()
