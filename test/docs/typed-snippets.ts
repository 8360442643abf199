// Readers copy the snippets of the documentation into their own projects, so each must compile with the declarations of the package.
// test/package.test.ts runs these tests: it builds the package.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { fencedSnippets, pages, read, root, type Snippet } from './blocks.ts'

/** Files with a function whose @example is a complete program. */
const documented = ['src/sides/operator/create-operator.ts', 'src/sides/platform/create-platform.ts']

export function testTypedSnippets(): void {
  test('the TypeScript snippets of README, docs, createOperator and createPlatform compile in strict mode', async (t) => {
    const snippets = [
      ...pages.flatMap((file) => fencedSnippets(file, 'ts')),
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
    const named = (await compile(folder)).replaceAll(
      /\S*snippet-(\d+)\.ts/g,
      (_, i: string) => snippets[Number(i)]?.from ?? i,
    )
    assert.equal(named, '')
  })

  test('the JSX, HTML and Vue snippets have only attributes of the element, and it has types in React and Vue', async (t) => {
    const [jsx, html, vue] = ['jsx', 'html', 'vue'].map((language) =>
      pages.flatMap((file) => fencedSnippets(file, language)),
    )
    assert.ok(jsx?.length === 1 && html && html.length >= 2 && vue?.length === 1)
    await mkdir(join(root, '.cache'), { recursive: true })
    const folder = await mkdtemp(join(root, '.cache', 'jsx-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'bell.tsx'), jsx[0]?.text ?? '')
    for (const [i, { text }] of html.entries())
      await writeFile(join(folder, `html-${i}.tsx`), `export const Html = () => <>${text}</>\n`)
    await writeFile(join(folder, 'vue.tsx'), vueAsJsx(vue[0]?.text ?? ''))
    const wrong = "export const Wrong = () => <bellwire-inbox view={'cards'} />\n"
    await writeFile(join(folder, 'wrong.tsx'), `import 'bellwire/inbox-element'\n${wrong}`)
    await writeFile(
      join(folder, 'vue-types.ts'),
      "import 'bellwire/inbox-element'\nimport type { GlobalComponents } from 'vue'\nexport type Bell = InstanceType<GlobalComponents['bellwire-inbox']>['$props']\nexport const props: Bell = { 'token-url': '/bellwire-token' }\n",
    )
    await writeFile(join(folder, 'vue.d.ts'), 'export interface GlobalComponents {}\n')
    const compilerOptions = {
      ...project.compilerOptions,
      lib: ['es2024', 'dom', 'dom.iterable'],
      jsx: 'react-jsx',
      types: [],
      module: 'preserve',
      paths: { 'bellwire/inbox-element': ['../../dist/tools/widget/inbox-element.d.ts'], vue: ['./vue.d.ts'] },
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }))
    assert.match(await compile(folder), /^wrong\.tsx\S+ error TS2322: Type '"cards"' is not assignable .*\n$/)
  })
}

/** A component of Vue without bindings: its script, its template, and the option of the compiler in its comment. */
function vueAsJsx(text: string): string {
  const [, comment, script, template] =
    /^<!-- Vue; in vite\.config\.js: (.*) -->\n<script setup>\n(.*)<\/script>\n<template>\n(.*)<\/template>\n$/s.exec(
      text,
    ) ?? []
  assert.ok(comment && script && template, text)
  const options = '{ template: { compilerOptions: { isCustomElement: (tag: string) => boolean } } }'
  return `${script}declare const vue: (options: ${options}) => void\n${comment}\nexport const Vue = () => <>${template}</>\n`
}

/** @returns the errors */
async function compile(folder: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}

const project = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    checkers: 1,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    // The declarations of the package import declarations of other packages, which strict mode rejects.
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    paths: {
      bellwire: ['../../dist/index.d.ts'],
      'bellwire/devices': ['../../dist/subjects/devices/client.d.ts'],
      'bellwire/config': ['../../dist/sides/config/read-options.d.ts'],
    },
  },
  include: ['*.ts'],
}

/** Returns the @example of a function, with imports of the names that the example uses. */
function exampleOf(file: string): Snippet {
  const [, comment = ''] = /@example\n([\s\S]*?) \*\/\nexport function create/.exec(read(file)) ?? []
  const text = comment.replaceAll(/^ \* ?/gm, '')
  const imported = ['createOperator', 'createPlatform', 'fcm', 'fileSource', 'operatorApi'].filter((name) =>
    text.includes(name),
  )
  assert.notEqual(text, '', file)
  return { from: file, language: 'ts', text: `import { ${imported.join(', ')} } from 'bellwire'\n${text}` }
}
