// Readers copy the TypeScript snippets of the documentation into their own projects, so each must compile unchanged in strict mode.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Files with a function whose @example is a complete program. */
const documented = ['src/operator/create-operator.ts', 'src/platform/create-platform.ts']

test('the TypeScript snippets of README, docs, createOperator and createPlatform compile in strict mode', async (t) => {
  const snippets = [
    ...['README.md', ...globSync('docs/*.md', { cwd: root })].flatMap((file) => fencedSnippets(file)),
    ...documented.map((file) => exampleOf(file)),
  ]
  assert.ok(snippets.length >= 10, String(snippets.length))
  // A folder of the checkout, so that the imports of express and fastify are resolved.
  await mkdir(join(root, '.cache'), { recursive: true })
  const folder = await mkdtemp(join(root, '.cache', 'snippets-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [i, { text }] of snippets.entries())
    await writeFile(join(folder, `snippet-${i}.ts`), `${text}\nexport {}\n`)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    folder,
  ]).catch((error: { stdout: string }) => error)
  const named = stdout.replaceAll(/\S*snippet-(\d+)\.ts/g, (_, i: string) => snippets[Number(i)]?.from ?? i)
  assert.equal(named, '')
})

const project = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    // `paths` resolves to the source, which imports packages with declarations that strict mode rejects.
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    paths: {
      bellwire: ['../../src/index.ts'],
      'bellwire/devices': ['../../src/devices/client.ts'],
      'bellwire/config': ['../../src/config/read-options.ts'],
    },
  },
  include: ['*.ts'],
}

interface Snippet {
  readonly from: string
  readonly text: string
}

function fencedSnippets(file: string): Snippet[] {
  return [...read(file).matchAll(/^( *)```ts\n([\s\S]*?)^ *```/gm)].map(([, indent = '', text = ''], i) => ({
    from: `${file} (snippet ${i + 1})`,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
}

/** Returns the @example of a function, with imports of the names that the example uses. */
function exampleOf(file: string): Snippet {
  const [, comment = ''] = /@example\n([\s\S]*?) \*\/\nexport function create/.exec(read(file)) ?? []
  const text = comment.replaceAll(/^ \* ?/gm, '')
  const imported = ['createOperator', 'createPlatform', 'fcm', 'fileSource', 'operatorApi'].filter((name) =>
    text.includes(name),
  )
  assert.notEqual(text, '', file)
  return { from: file, text: `import { ${imported.join(', ')} } from 'bellwire'\n${text}` }
}
