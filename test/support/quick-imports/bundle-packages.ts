// The bundles of test/support/quick-imports/resolve.ts, made once for each version of the packages.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '../../..')
const packages = [
  '@platformatic/kafka',
  'commander',
  'csv-parse',
  'csv-parse/sync',
  'fastify',
  'jose',
  'pg',
  'prom-client',
  'rabbitmq-client',
  'typebox',
  'typebox/compile',
  'typebox/schema',
  'undici',
  'ws',
  'yaml',
]
/** They load files of their own folder. */
const external = ['@node-rs/crc32', '@platformatic/wasm-utils', 'pg-native']

/** Makes the options of Node for the processes that import quickly. */
export async function quickImports(): Promise<string> {
  const versions = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  const key = versions
    .update(readFileSync(import.meta.filename))
    .digest('hex')
    .slice(0, 12)
  const folder = join(root, 'node_modules/.cache', `bundles-${key}`)
  if (!existsSync(folder)) await bundle(folder)
  const resolve = new URL('resolve.ts', import.meta.url)
  resolve.searchParams.set('bundles', pathToFileURL(`${folder}/`).href)
  return `--import=${resolve.href}`
}

async function bundle(folder: string): Promise<void> {
  const partial = `${folder}.part-${process.pid}`
  await build({
    entryPoints: packages.map((name) => ({ in: `all:${name}`, out: name.replace('/', '+') })),
    plugins: [exportAll],
    bundle: true,
    // Packages that import each other, and a package of several entries, share one copy.
    splitting: true,
    platform: 'node',
    format: 'esm',
    external,
    outdir: partial,
    outExtension: { '.js': '.mjs' },
    banner: { js: "import { createRequire as create } from 'node:module'; const require = create(import.meta.url);" },
    logLevel: 'error',
  })
  for (const name of packages) {
    const [given, bundled] = await Promise.all([import(name), import(join(partial, `${name.replace('/', '+')}.mjs`))])
    assert.deepEqual(describeExports(bundled), describeExports(given), `the bundle of ${name} exports something else`)
  }
  await rename(partial, folder).catch(() => rm(partial, { recursive: true, force: true }))
}

const describeExports = (exports: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(exports)
      .filter(([name]) => name !== 'module.exports')
      .map(([name, value]) => [name, typeof value]),
  )

/** `all:NAME` exports what an import of the package gives: of a CommonJS package also its names. */
const exportAll: Plugin = {
  name: 'export-all',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^all:/ }, ({ path }) => ({ path: path.slice('all:'.length), namespace: 'all' }))
    onLoad({ filter: /./, namespace: 'all' }, async ({ path }) => {
      const given = (await import(path)) as Record<string, unknown>
      const names = Object.keys(given).filter((name) => name !== 'default' && name !== 'module.exports')
      const from = JSON.stringify(path)
      const contents =
        'module.exports' in given
          ? `const all = require(${from}); export default all; export const { ${names.join(', ')} } = all`
          : `export * from ${from}; ${'default' in given ? `export { default } from ${from}` : ''}`
      return { contents, resolveDir: root }
    })
  },
}
