// Readers copy the snippets of the documentation into their own projects, so each must work unchanged.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'

import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { operatorOptions, platformOptions } from '../../src/sides/config/compose/compose.ts'
import { operatorProfile } from '../../src/sides/config/compose/operator-profile.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { readPlatformPreparation } from '../../src/tools/cli/check/platform-preparation.ts'
import { readPreparation } from '../../src/tools/cli/check/preparation.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { temporary } from '../support/sides.ts'
import { fencedSnippets, pages, read, root, type Snippet } from './blocks.ts'

/** Files with a function whose @example is a complete program. */
const documented = ['src/sides/operator/create-operator.ts', 'src/sides/platform/create-platform.ts']

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
    paths: { 'bellwire/inbox-element': ['../../src/tools/widget/inbox-element.ts'], vue: ['./vue.d.ts'] },
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }))
  assert.match(await compile(folder), /^wrong\.tsx\S+ error TS2322: Type '"cards"' is not assignable .*\n$/)
})

test('every YAML block of README and docs is a valid configuration, together with the parts that it leaves out', async (t) => {
  const folder = await folderOfYaml(t)
  const wrong: string[] = []
  let blocks = 0
  for (const { from, text } of pages.flatMap((file) => fencedSnippets(file, 'yaml')).flatMap(withAlternatives)) {
    blocks++
    const file = join(folder, 'bellwire.yaml')
    await writeFile(file, completed(text))
    await checkYaml(text, file, from, folder).catch((error: Error) => wrong.push(`${from}: ${error.message}\n${text}`))
  }
  assert.deepEqual(wrong, [])
  assert.ok(blocks >= 35, String(blocks))
})

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

/** A setting in a comment is an alternative to the line above it. */
function withAlternatives({ text, ...block }: Snippet): Snippet[] {
  const written = text.replaceAll(/^ *# (\w+: .*)\n/gm, '')
  const alternatives = [...text.matchAll(/^( *)# ((\w+): .*)\n/gm)].map(([, indent, line = '', name]) => ({
    ...block,
    text: written.replace(new RegExp(`^${indent}${name}: .*$`, 'm'), () => indent + line),
  }))
  return [{ ...block, text: written }, ...alternatives]
}

/** Adds the settings that a side needs and the block leaves out. */
function completed(text: string): string {
  const [, side] = /^(operator|platform):$/m.exec(text) ?? []
  const needed = Object.entries(side === undefined ? {} : required[side as keyof typeof required])
  const missing = needed.filter(([name]) => !new RegExp(`^  ${name}:`, 'm').test(text))
  const brands = new Set(Array.from(text.matchAll(/brand: (\d+)/g), ([, brand = '']) => brand))
  return (
    text +
    missing
      .map(([name, value]) => `  ${name}: ${value}\n`)
      .join('')
      .replace('BRANDS', [...brands].join() || '1')
  )
}

const required = {
  operator: {
    keys: '[{name: platform, key: example-operator-key-1, brands: [BRANDS]}]',
    admin: '{port: 7101}',
    push: '{provider: recording, file: pushed.ndjson}',
    site: 'inbox',
    attributes: '[{file: users.csv}]',
  },
  platform: {
    store: 'sqlite:platform.db',
    keys: '[{name: crm, key: example-platform-key-1, scopes: [enqueue, counts, read, decide, attributes]}]',
    lanes:
      '[{brand: 1, channel: push, to: {provider: operator-api, url: "https://operator.example", api_key: example-operator-key-1}}]',
  },
}

const vapid = makeVapidKeys()

const variables = {
  OPERATOR_READ_KEY: 'a-key-with-the-scope-read',
  OIDC_SECRET: 'a-secret-of-the-provider',
  VAPID_PUBLIC_KEY: vapid.publicKey,
  SMTP_PASSWORD: 'password',
  SLACK_WEBHOOK: 'https://hooks.example/1',
  VAPID_PRIVATE_KEY: vapid.privateKey,
  OPERATOR_KEY: 'example-operator-key-1',
  PLATFORM_KEY: 'example-platform-key-1',
  LOGIN_KEY: 'example-platform-login-key',
  BACKEND_KEY: 'example-operator-tokens-key',
  APP_SECRET: 'example-secret-of-subscriber-tokens-1',
  STATUS_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  PAGER_SECRET: 'example-secret-of-the-pager',
  PLAYERS_TOKEN: 'example-token-of-players',
  DEVICES_SECRET: 'example-secret-of-devices',
  PASSWORD: 'example-password',
}

/** The files that blocks name. */
async function folderOfYaml(t: TestContext): Promise<string> {
  const folder = await temporary(t)
  const pem = (pair: { privateKey: KeyObject }) => pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account = {
    type: 'service_account',
    project_id: 'example',
    client_email: 'push@example.iam.gserviceaccount.com',
    private_key: pem(generateKeyPairSync('rsa', { modulusLength: 2048 })),
  }
  for (const name of ['service-account.json', 'firebase.json'])
    await writeFile(join(folder, name), JSON.stringify(account))
  const key = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  for (const name of ['AuthKey_ABC1234567.p8', 'AuthKey_ABC.p8']) await writeFile(join(folder, name), key)
  const certificate = makeCertificate()
  for (const name of ['ca.pem', 'client.pem']) await writeFile(join(folder, name), certificate.cert)
  await writeFile(join(folder, 'client.key'), certificate.key)
  await copyFile(join(root, 'examples/my-devices.ts'), join(folder, 'mine.ts'))
  await copyFile(join(root, 'examples/users.csv'), join(folder, 'users.csv'))
  new DatabaseSync(join(folder, 'shop.db')).exec('create table devices (user_id text, token text, kind text)')
  return folder
}

/** Checks a block as `config --check` does, or as `check … --file`. The first go-live block writes the profile for the blocks after it. */
async function checkYaml(text: string, file: string, from: string, folder: string): Promise<void> {
  if (/^(url|host): /.test(text)) {
    const prepared = await (text.startsWith('url') ? readPreparation(file) : readPlatformPreparation(file))
    assert.ok(Object.keys(prepared).length > 5)
    return
  }
  const { operator, platform } = await loadConfig(file, variables)
  assert.ok(operator ?? platform)
  if (operator) await operatorOptions(operator)
  if (platform) await platformOptions(platform)
  if (operator && from.startsWith('docs/go-live.md'))
    await writeFile(join(folder, 'operator-profile.json'), JSON.stringify(await operatorProfile(operator, Date.now())))
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
    // `paths` resolves to the source, which imports packages with declarations that strict mode rejects.
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    paths: {
      bellwire: ['../../src/index.ts'],
      'bellwire/devices': ['../../src/subjects/devices/client.ts'],
      'bellwire/config': ['../../src/sides/config/read-options.ts'],
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
