// npm test: runs all test files, or those that the arguments name. The slow files start first, so that no long file is left alone at
// the end. `node --test` would start the files in the order of their names.

import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { useMemoryFolder } from './support/memory-folder.ts'
import { quickImports } from './support/quick-imports/bundle-packages.ts'
import { shareServices, stopServices } from './support/services/service.ts'
import { sharedServices } from './support/services/shared.ts'
import { shareProcesses } from './support/together.ts'

const slowFiles = [
  'test/prove/shard-*.test.ts',
  'test/{package,firefox}.test.ts',
  'test/checker/*.test.ts',
  'test/{e2e,widget}/*.test.ts',
  'test/console/chromium.test.ts',
]
/** Short files that share processes, the longest groups first. Each of their tests leaves its process as it found it. */
const shortFiles = [
  'test/checker/{foreign-operators,foreign-platforms,report,run}.test.ts',
  'test/people/*.test.ts',
  'test/{cli,console,demo,deploy,docs}/*.test.ts',
  'test/e2e/{attributes,clock-set,offline-device,push-secrets,reconcile,secrets,status}.test.ts',
  'test/widget/{bundle,console}.test.ts',
  'test/{devices/channels,platform,platform/intake,platform/stores,queue}/*.test.ts',
  'test/{attributes,conversions,delivery,devices,operator,store}/*.test.ts',
  'test/{inbox,providers,reconcile}/**/*.test.ts',
  'test/{audit,fake,http,status}/*.test.ts',
  'test/{alerts,bench,brokers,config,config/compose,contract,http-client,http2,runtime,stand-ins}/*.test.ts',
]
/** They measure the memory of their process, start a browser, replace globals of the process, or need a default that tests replace. */
const alone = [
  'test/cli/traces.test.ts',
  'test/console/chromium.test.ts',
  'test/docs/site.test.ts',
  'test/http/small-chunks.test.ts',
  'test/operator/request-bodies.test.ts',
  'test/store/postgres-partitions.test.ts',
]
/** More than the machine has cores: a proof mostly waits. With eight, the whole run took longer. */
const concurrency = 6

// Much of the processor time of a test is the start of its processes: they strip the types of the source, and compile it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compile')
const named = process.argv.slice(2)
const find = (patterns: readonly string[], exclude: readonly string[] = []): readonly string[] =>
  patterns.flatMap((pattern) => globSync(pattern, { exclude }).sort())
const short = find(shortFiles, alone)
const files =
  named.length > 0 ? find(named) : [...find([...slowFiles, 'test/**/*.test.ts'], short), ...shareProcesses(short)]
const imports = ['without-hook', 'early-end'].map(
  (name) => `--import=${new URL(`support/${name}.ts`, import.meta.url).href}`,
)
/** With a larger space for new objects, a process collects its garbage less often. */
const newSpace = ['--max-semi-space-size=16', '--min-semi-space-size=16']
useMemoryFolder()
// The files are not kept waiting: those that need no service run while the services are downloaded and started.
await shareServices(sharedServices, named.length === 0)
const quick = await quickImports()
if (named.length === 0) fillCompileCache(quick)
const execArgv = [quick, ...imports, ...newSpace]
const tests = run({ files: [...new Set(files)], concurrency, timeout: 480_000, execArgv })
tests.on('test:fail', () => (process.exitCode = 1))
await pipeline(tests, new spec(), process.stdout, { end: false })
await stopServices()

/** Imports both sides and all commands once: otherwise each of the first processes would strip their types and compile them. */
function fillCompileCache(quick: string): void {
  const path = (file: string): string => join(import.meta.dirname, file)
  const imports = [quick, `--import=${path('support/sides.ts')}`, '--conditions=bellwire-source']
  execFileSync(process.execPath, [...imports, path('../bin/bellwire.cjs'), 'completion', 'bash'], { stdio: 'ignore' })
}
