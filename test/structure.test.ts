// The allowed imports between folders (docs/architecture.md).

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import test from 'node:test'

const src = join(import.meta.dirname, '..', 'src')

/** For each folder of src, the folders from which it may import. The suffix ':types' allows only `import type`. */
const allowedImports: Record<string, readonly string[]> = {
  runtime: [],
  contract: [],
  store: ['runtime'],
  queue: ['store', 'runtime', 'contract'],
  attributes: ['store', 'runtime', 'contract'],
  inbox: ['store', 'runtime', 'contract', 'providers:types'],
  devices: ['queue', 'store', 'runtime', 'contract'],
  providers: ['devices:types', 'inbox', 'store', 'runtime', 'contract'],
  'stand-ins': ['runtime', 'contract'],
  delivery: ['providers', 'devices', 'attributes', 'store', 'runtime', 'contract'],
  operator: ['queue', 'delivery', 'devices', 'inbox', 'providers', 'attributes', 'store', 'runtime', 'contract'],
  platform: ['queue', 'delivery', 'devices', 'inbox', 'providers', 'attributes', 'store', 'runtime', 'contract'],
  config: ['operator', 'platform', 'devices', 'providers', 'attributes', 'inbox', 'store', 'runtime', 'contract'],
  demo: [
    'config',
    'operator',
    'platform',
    'stand-ins',
    'devices',
    'providers',
    'attributes',
    'inbox',
    'store',
    'runtime',
    'contract',
  ],
  cli: [
    'demo',
    'config',
    'operator',
    'platform',
    'stand-ins',
    'devices',
    'queue',
    'delivery',
    'providers',
    'attributes',
    'inbox',
    'store',
    'runtime',
    'contract',
  ],
}

interface Import {
  readonly file: string
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

function findImports(): Import[] {
  const found: Import[] = []
  for (const file of globSync('**/*.ts', { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8')
    const from = file.split('/')[0] as string
    if (!file.includes('/')) continue // the package's entry points import from every folder
    for (const match of text.matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
    )) {
      const target = relative(src, join(src, dirname(file), (match[2] ?? match[3]) as string))
      const to = target.split('/')[0] as string
      if (to !== from) found.push({ file, from, to, typeOnly: match[1] !== undefined })
    }
  }
  return found
}

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
  const folders = new Set(globSync('*/**/*.ts', { cwd: src }).map((file) => file.split('/')[0] as string))
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
