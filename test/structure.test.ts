// Who may import whom (docs/architecture.md). The tree is drawn so that a reader can trust a folder's name.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import test from 'node:test'

const src = join(import.meta.dirname, '..', 'src')

/** folder → the folders of ours it may import from. 'types' after a colon: import type only. */
const arrows: Record<string, readonly string[]> = {
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

interface Arrow {
  readonly file: string
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

function imports(): Arrow[] {
  const found: Arrow[] = []
  for (const file of globSync('**/*.ts', { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8')
    const from = file.split('/')[0] as string
    if (!file.includes('/')) continue // the package's entrance exports everything
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

test('every folder imports only from the folders that it may', () => {
  const wrong = imports().filter(({ from, to, typeOnly }) => {
    const allowed = arrows[from] ?? []
    return !(allowed.includes(to) || (typeOnly && allowed.includes(`${to}:types`)))
  })
  assert.deepEqual(
    wrong.map(({ file, to }) => `${file} → ${to}`),
    [],
  )
})

test('every folder of src is in the table of arrows', () => {
  const folders = new Set(globSync('*/**/*.ts', { cwd: src }).map((file) => file.split('/')[0] as string))
  assert.deepEqual(
    [...folders].filter((folder) => !(folder in arrows)),
    [],
  )
})

test('operator and platform never import each other, and the contract imports nothing of ours', () => {
  const all = imports()
  assert.ok(all.length > 30, 'the imports were found')
  for (const { from, to } of all) {
    assert.ok(!(from === 'operator' && to === 'platform') && !(from === 'platform' && to === 'operator'))
    assert.notEqual(from, 'contract')
    assert.notEqual(from, 'runtime')
  }
})
