// The allowed imports between folders (docs/contributing/architecture.md).

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import test from 'node:test'
import { commitOrder } from '../src/base/store/order.ts'

const src = join(import.meta.dirname, '..', 'src')

/** The areas of src, from the ground up. Each imports only from those before it. */
const areas = ['contract', 'base', 'subjects', 'sides', 'tools']

/** @example withoutArea('base/queue/enqueue.ts') // 'queue/enqueue.ts' */
const withoutArea = (file: string): string => file.replace(/^(base|subjects|sides|tools)\//, '')
const folderOf = (file: string): string => withoutArea(file).split('/')[0] as string

/** For each folder, the folders from which it may import. The suffix ':types' allows only `import type`. */
const allowedImports: Record<string, readonly string[]> = {
  runtime: [],
  contract: [],
  http: ['runtime', 'contract'],
  store: ['runtime'],
  people: ['store', 'runtime', 'contract'],
  queue: ['people', 'store', 'runtime', 'contract'],
  brands: ['queue', 'store', 'runtime'],
  attributes: ['http-client', 'store', 'runtime', 'contract'],
  audit: ['people', 'store', 'runtime'],
  brokers: ['queue', 'store', 'runtime', 'contract'],
  inbox: ['people', 'store', 'http', 'runtime', 'contract', 'providers:types'],
  status: ['people', 'settings', 'providers', 'http-client', 'queue', 'store', 'http', 'runtime', 'contract'],
  devices: ['people', 'http-client', 'brokers', 'queue', 'store', 'http', 'runtime', 'contract'],
  conversions: ['people', 'http-client', 'queue', 'store', 'http', 'runtime', 'contract'],
  http2: ['runtime'],
  'http-client': ['http2:types', 'runtime', 'contract'],
  providers: ['people', 'http-client', 'devices:types', 'http2', 'store', 'runtime', 'contract'],
  widget: [],
  settings: ['providers', 'attributes', 'devices:types', 'http', 'runtime', 'contract'],
  'stand-ins': ['http', 'runtime', 'contract'],
  checker: ['runtime', 'contract'],
  alerts: ['settings', 'http-client', 'queue:types', 'store', 'runtime'],
  delivery: ['people', 'providers', 'devices', 'inbox', 'attributes', 'store', 'http', 'runtime', 'contract'],
  reconcile: ['people', 'audit', 'http-client', 'attributes:types', 'store', 'http', 'runtime', 'contract'],
  admin: [
    'people',
    'audit',
    'reconcile',
    'conversions',
    'status',
    'delivery',
    'devices',
    'inbox',
    'providers',
    'brokers',
    'queue',
    'store',
    'http',
    'runtime',
    'contract',
  ],
  console: ['admin', 'alerts', 'settings:types', 'http', 'runtime', 'contract'],
  operator: [
    'alerts',
    'people',
    'audit',
    'settings',
    'console',
    'admin',
    'brands',
    'queue',
    'delivery',
    'devices',
    'status',
    'inbox',
    'providers',
    'attributes',
    'store',
    'http',
    'runtime',
    'contract',
  ],
  platform: [
    'alerts',
    'people',
    'audit',
    'settings',
    'console',
    'admin',
    'brands',
    'reconcile',
    'conversions',
    'status',
    'brokers',
    'queue',
    'delivery',
    'devices',
    'inbox',
    'providers',
    'attributes:types',
    'store',
    'http',
    'runtime',
    'contract',
  ],
  fake: [
    'http-client',
    'checker',
    'operator',
    'platform',
    'reconcile',
    'brokers',
    'devices',
    'providers',
    'attributes',
    'http',
    'runtime',
    'contract',
  ],
  shadow: [
    'http-client',
    'checker',
    'operator',
    'delivery:types',
    'devices:types',
    'providers',
    'http',
    'runtime',
    'contract',
  ],
  config: [
    'alerts',
    'settings',
    'http',
    'http-client',
    'brands',
    'operator:types',
    'platform:types',
    'reconcile:types',
    'status',
    'delivery:types',
    'brokers',
    'devices',
    'providers',
    'attributes',
    'runtime',
    'contract',
  ],
  demo: ['console', 'admin:types', 'stand-ins', 'devices', 'providers', 'http', 'runtime', 'contract'],
  cli: [
    'audit',
    'alerts:types',
    'settings',
    'delivery:types',
    'http-client',
    'admin',
    'brands',
    'checker',
    'conversions:types',
    'demo',
    'fake',
    'config',
    'operator',
    'platform',
    'reconcile',
    'shadow',
    'stand-ins',
    'providers',
    'queue',
    'people',
    'store',
    'http',
    'runtime',
    'contract',
  ],
}

interface Import {
  readonly file: string
  readonly target: string
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
  /** Loaded when it is needed. */
  readonly dynamic: boolean
}

/** @param inside also the imports within a folder, and of the package's entry points */
function findImports(inside = false): Import[] {
  const found: Import[] = []
  for (const file of globSync('**/*.ts', { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8')
    const from = folderOf(file)
    if (!inside && !file.includes('/')) continue // the package's entry points import from every folder
    for (const match of text.matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
    )) {
      const target = relative(src, join(src, dirname(file), (match[2] ?? match[3]) as string))
      const to = folderOf(target)
      if (inside || to !== from)
        found.push({ file, target, from, to, typeOnly: match[1] !== undefined, dynamic: match[3] !== undefined })
    }
  }
  return found
}

test('every area imports only from the areas below it', () => {
  const areaOf = (file: string): number => areas.indexOf(file.split('/')[0] as string)
  const upward = findImports(true).filter(({ file, target }) => areaOf(target) > areaOf(file) && file.includes('/'))
  assert.deepEqual(
    upward.map(({ file, target }) => `${file} → ${target}`),
    [],
  )
  const found = new Set(globSync('*/**/*.ts', { cwd: src }).map((file) => file.split('/')[0] as string))
  assert.deepEqual([...found].toSorted(), areas.toSorted())
})

test('every folder imports only from allowed folders', () => {
  const wrong = findImports().filter(({ from, to, typeOnly }) => {
    const allowed = allowedImports[from] ?? []
    return !(allowed.includes(to) || (typeOnly && allowed.includes(`${to}:types`)))
  })
  assert.deepEqual(
    wrong.map(({ file, to }) => `${file} → ${to}`),
    [],
  )
})

test('every folder of src is in the table of allowed imports', () => {
  const folders = new Set(globSync('*/**/*.ts', { cwd: src }).map(folderOf))
  assert.deepEqual(
    [...folders].filter((folder) => !(folder in allowedImports)),
    [],
  )
})

test('operator and platform never import each other, and contract and runtime import no other folder', () => {
  const all = findImports()
  assert.ok(all.length > 30, 'the imports were found')
  for (const { from, to } of all) {
    assert.ok(!(from === 'operator' && to === 'platform') && !(from === 'platform' && to === 'operator'))
    assert.notEqual(from, 'contract')
    assert.notEqual(from, 'runtime')
  }
})

// node:http2 and undici's HTTP/2 end the process when a peer violates the protocol. The stand-ins are servers for tests.
test('no product code speaks HTTP/2 to a peer, except the client of our own', () => {
  const http2 = /from 'node:http2'/
  const undici = /^import (?!type )[^'"]*from 'undici'/m
  const found = globSync('**/*.ts', { cwd: src }).filter((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    return (http2.test(text) && !file.startsWith('tools/stand-ins/')) || undici.test(text)
  })
  assert.deepEqual(found, ['base/http-client/dispatcher.ts'])
})

/** The commands that only call a running side. */
const clients = [
  'attributes',
  'audit',
  'cancel',
  'devices',
  'explain',
  'failed',
  'lanes',
  'pause',
  'person',
  'reconcile',
]
  .concat('removals', 'send', 'status')
  .map((name) => `tools/cli/${name}.ts`)

test('a command that calls /admin loads no code of a server or a database', () => {
  const loads = Map.groupBy(
    findImports(true).filter(({ typeOnly, dynamic }) => !typeOnly && !dynamic),
    ({ file }) => file,
  )
  const loaded = new Set<string>()
  const follow = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const { target } of loads.get(file) ?? []) follow(target)
  }
  clients.forEach(follow)
  assert.ok(loaded.has('sides/admin/calls.ts') && loaded.has('sides/admin/requests.ts'))
  const server = /^import (?!type )[^'"]*from '(?:fastify|pg|@fastify\/[^']*)'/m
  assert.deepEqual(
    [...loaded].filter((file) => server.test(readFileSync(join(src, file), 'utf8'))),
    [],
  )
})

test('no files import each other in a circle', () => {
  const targets = new Map<string, string[]>()
  for (const { file, target } of findImports(true)) targets.set(file, [...(targets.get(file) ?? []), target])
  const finished = new Set<string>()
  const follow = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
    if (finished.has(file)) return
    for (const target of targets.get(file) ?? []) follow(target, [...path, file])
    finished.add(file)
  }
  for (const file of targets.keys()) follow(file, [])
})

/** The files that may reckon with clock.now(): with moments that people, other machines or the store know. */
const reckonsWithMoments: Record<string, string> = {
  'runtime/retention.ts': 'how long stored rows are kept',
  'attributes/file.ts': 'the age of a file',
  'providers/http/http.ts': 'the expiry of a message',
  'providers/apns/apns.ts': 'the expiry of a message',
  'providers/guard.ts': 'the end of a pause, for people',
  'delivery/devices.ts': 'the expiry of a message',
  'delivery/device-refusals.ts': 'the expiry of a message',
  'delivery/service-guard.ts': 'the end of a pause, for people',
  'delivery/send-path.ts': 'a deadline',
  'admin/subscriber-tokens.ts': 'the expiry of a token',
  'queue/lane/read-waiting.ts': 'the stored time of an item, which becomes a duration once',
  'admin/keys.ts': 'the expiry of a key',
  'admin/lanes.ts': 'the end of a control, which people see',
  'queue/controls/lane-controls.ts': 'the stored end of a pause',
  'queue/lane/session.ts': 'the stored end of a pause, which becomes a duration once',
  'brands/move/freeze.ts': 'the age of stored rows',
  'store/inspect-store.ts': 'the difference of two clocks',
  'store/postgres-session.ts': 'a lease, which ends by the clock that advanced further',
  'reconcile/reconciler.ts': 'the stored time of a run, which becomes a duration once',
}

test('no duration is measured with clock.now(), because the clock may be set: clock.monotonic() and clock.steady() never jump', () => {
  const reckons = /clock\.now\(\) *[-+<>]|[-+<>]=? *clock\.now\(\)/
  const found = ['runtime', 'http', 'http2', 'queue', 'store', 'brands', 'brokers', 'providers', 'delivery', 'devices']
    .concat(['inbox', 'status', 'conversions', 'attributes', 'reconcile', 'admin', 'console', 'operator', 'platform'])
    .flatMap((folder) => globSync(`*/${folder}/**/*.ts`, { cwd: src }))
    .filter((file) => !(withoutArea(file) in reckonsWithMoments))
    .flatMap((file) =>
      readFileSync(join(src, file), 'utf8')
        .split('\n')
        // The deadline of a call is a moment in the public interfaces. Each call makes it a duration at its start.
        .filter((line) => reckons.test(line) && !/deadline/i.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
  assert.deepEqual(found, [])
})

test('each file that docs/contributing/architecture.md names exists', () => {
  const page = readFileSync(join(src, '..', 'docs', 'contributing', 'architecture.md'), 'utf8')
  const names = [...page.matchAll(/`([a-z0-9-]+\/[a-z0-9/*.-]+)`/g)].map((match) => match[1] as string)
  const files = names.filter((name) => !name.startsWith('test/'))
  assert.ok(files.length > 50, 'the files were found')
  const missing = files.filter((name) => globSync([`{.,*}/${name}{,.ts,/*.ts}`], { cwd: src }).length === 0)
  assert.deepEqual(missing, [])
})

test('each statement that changes rows has its place in the order of a commit, and each place has a statement', () => {
  const changing = new Set<string>()
  const all = new Set<string>()
  for (const file of globSync('**/*.ts', { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8').replaceAll(/^ \*.*$/gm, '')
    for (const [definition, long, short] of text.matchAll(
      /\b(?:statement|insertNew)(?:<[^(]*>)?\((?:\{\s*name: '(\w+)'[\s\S]*?\n *\}\)|'(\w+)'[^`]*`[^`]*`)/g,
    )) {
      const name = (long ?? short) as string
      all.add(name)
      if (/insertNew|\binsert into\b|\bupdate \w+ set\b|\bdelete from\b/.test(definition)) changing.add(name)
    }
    for (const [, table] of text.matchAll(/\bforgetOld\(\{\s*table: '(\w+)'/g)) changing.add(`forget_${table}`)
    for (const [, name] of text.matchAll(/\b(?:deleteRange|settleRanges)\('(\w+)'/g)) changing.add(name as string)
  }
  assert.ok(changing.size > 80, 'the statements were found')
  assert.deepEqual(
    [...changing].filter((name) => !commitOrder.includes(name)),
    [],
  )
  // Names that are made at run time: a statement for each table of counts, and for each field of the CRM.
  const made = /^(merge|forget)_\w+_counts$|^correct_|^forget_(refusals|device_sends)$/
  assert.deepEqual(
    commitOrder.filter((name) => !changing.has(name) && !all.has(name) && !made.test(name)),
    [],
  )
  assert.equal(new Set(commitOrder).size, commitOrder.length)
})
