// Every TypeScript snippet that a reader may copy compiles as it stands, under the strictest settings, in a project of theirs.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The functions whose examples are whole programs. */
const documented = ['src/operator/create-operator.ts', 'src/platform/create-platform.ts']

test('the TypeScript of README, docs and the examples of createOperator and createPlatform compiles, strictly', async (t) => {
  const snippets = [
    ...['README.md', ...globSync('docs/*.md', { cwd: root })].flatMap((file) => fenced(file)),
    ...documented.map((file) => exampleOf(file)),
  ]
  assert.ok(snippets.length >= 10, String(snippets.length))
  // Within the checkout, so that express and fastify are found.
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
    // Our source is read in place of its declarations, and with it those of packages that no declaration of ours names.
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

function fenced(file: string): Snippet[] {
  return [...read(file).matchAll(/^( *)```ts\n([\s\S]*?)^ *```/gm)].map(([, indent = '', text = ''], i) => ({
    from: `${file} (snippet ${i + 1})`,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
}

/** With an import of every name of ours that it uses: it stands where these are imported. */
function exampleOf(file: string): Snippet {
  const [, comment = ''] = /@example\n([\s\S]*?) \*\/\nexport function create/.exec(read(file)) ?? []
  const text = comment.replaceAll(/^ \* ?/gm, '')
  const ours = ['createOperator', 'createPlatform', 'fcm', 'fileSource', 'operatorApi'].filter((name) =>
    text.includes(name),
  )
  assert.notEqual(text, '', file)
  return { from: file, text: `import { ${ours.join(', ')} } from 'bellwire'\n${text}` }
}
