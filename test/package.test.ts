// The published package: its files are compared with a list, installed into an empty folder, and run there on each supported
// Node.

import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Run, type Started, startProgram } from './cli/bellwire.ts'
import { testTypedSnippets } from './docs/typed-snippets.ts'
import { freePort } from './support/free-port.ts'
import { installedPackage, pack } from './support/installed-package.ts'
import { nodeVersion } from './support/services/node-version.ts'
import { run } from './support/services/program.ts'
import { addressOf, without } from './support/services/service.ts'
import { post } from './support/sides.ts'
import { until } from './support/wait.ts'

interface Entry {
  readonly version: string
}

const root = join(import.meta.dirname, '..')
const oldest = ['22.19.0', '24.0.0']
const tooOld = '20.20.2'

const packed = await pack()
testTypedSnippets()
const installed = installedPackage(packed)
const missing = await without(installed)
const folder = missing ? '' : await addressOf(installed)
/** The versions of Node, each with its path, or with the reason to skip it. */
const nodes = new Map<string, { readonly skip: string | false; readonly program: string }>([
  [process.versions.node, { skip: missing, program: process.execPath }],
])
for (const version of [...oldest, tooOld]) {
  const service = nodeVersion(version)
  const skip = missing || (await without(service))
  nodes.set(version, { skip, program: skip ? '' : await addressOf(service) })
}
test.after(async () => {
  await packed.remove()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const published = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'bin/bellwire.cjs',
  'deploy/caddy/Caddyfile',
  'deploy/compose/{bellwire,compose}.yaml',
  'deploy/compose/{platform.sql,prometheus.yml}',
  'deploy/container/{Containerfile,build.sh}',
  'deploy/grafana/bellwire.json',
  'deploy/kubernetes/operator.yaml',
  'deploy/nginx/operator.conf',
  'deploy/prometheus/{prometheus,rules}.yml',
  'deploy/systemd/bellwire@.service',
  'dist/**/*.d.ts',
  'dist/**/*.js',
  'dist/sides/console/files/*.{css,js}',
  'dist/tools/demo/page/**/*.{css,html,js,svg}',
  'dist/openapi-{operator,platform}.json',
  'docs/*.md',
  'docs/check-report.schema.json',
  'docs/charts/*.svg',
  'docs/integration-profile.schema.json',
  'docs/demo.png',
  'examples/activities.ndjson',
  'examples/bellwire.yaml',
  'examples/devices.yaml',
  'examples/inbox-site/*.{html,ts}',
  'examples/library/*.ts',
  'examples/modules.yaml',
  'examples/my-devices.ts',
  'examples/my-provider.ts',
  'examples/my-push-service.ts',
  'examples/my-source.ts',
  'examples/onesignal.yaml',
  'examples/own-delivery.yaml',
  'examples/users.csv',
  'npm-shrinkwrap.json',
  'package.json',
  'sbom.cdx.json',
]

test('the package contains only the program, its documents and its examples', () => {
  const { paths } = packed
  assert.deepEqual(
    paths.filter((path) => !published.some((pattern) => matchesGlob(path, pattern))),
    [],
    'files not meant to be published',
  )
  assert.deepEqual(
    published.filter((pattern) => !paths.some((path) => matchesGlob(path, pattern))),
    [],
    'missing files',
  )
})

test('every file in dist was built from an existing source file', async () => {
  const sources = new Set(await readdir(join(root, 'src'), { recursive: true }))
  const stale = packed.paths
    // The build writes the OpenAPI documents from the running sides.
    .filter((path) => path.startsWith('dist/') && !path.startsWith('dist/openapi-'))
    .map((path) => path.slice('dist/'.length))
    .filter((path) => !sources.has(path) && !sources.has(path.replace(/(\.d\.ts|\.js)$/, '.ts')))
  assert.deepEqual(stale, [])
})

test('the shrinkwrap and the bill of materials name the packages of an installation, without addresses', {
  skip: missing,
}, async () => {
  const read = async (name: string) => JSON.parse(await readFile(join(folder, 'node_modules', name), 'utf8'))
  const { packages } = await read('bellwire/npm-shrinkwrap.json')
  const { packages: lock } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const nameOf = (path: string) => path.replace(/.*node_modules\//, '')
  const namesOf = (paths: readonly string[]) => paths.map(nameOf).toSorted()
  const { '': _, ...others } = packages
  assert.deepEqual(
    namesOf([...Object.keys(others), 'node_modules/bellwire']),
    namesOf(Object.keys((await read('.package-lock.json')).packages)),
  )
  for (const [path, entry] of Object.entries(others)) assert.deepEqual(entry, lock[path], path)
  assert.doesNotMatch(JSON.stringify(packages), /"resolved"|"dev"/)
  const { components, ...sbom } = await read('bellwire/sbom.cdx.json')
  const versions = (entries: readonly [string, string][]) =>
    [...new Set(entries.map((entry) => entry.join('@')))].toSorted()
  assert.deepEqual(
    components.map((each: { 'bom-ref': string }) => each['bom-ref']).toSorted(),
    versions(Object.entries(others).map(([path, each]) => [nameOf(path), (each as Entry).version])),
  )
  // A time or a random number would make each pack another one.
  assert.deepEqual([sbom.serialNumber, sbom.metadata.timestamp], [undefined, undefined])
})

test('the package with its dependencies takes at most 55 MB', { skip: missing }, async () => {
  const files = await readdir(join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
  let blocks = 0
  for (const file of files) blocks += (await stat(join(file.parentPath, file.name))).blocks
  assert.ok(blocks * 512 <= 55_000_000, `${blocks * 512} bytes on disk`)
})

test('the entry points of the package can be imported, and their types compile in a strict project', {
  skip: missing,
}, async () => {
  const program = `
    import { createOperator, createPlatform, guard, operatorApi, kafkaPublisher, amqpConsumer } from 'bellwire'
    import * as contract from 'bellwire/contract'
    import * as operator from 'bellwire/operator'
    import * as platform from 'bellwire/platform'
    import * as devices from 'bellwire/devices'
    import * as config from 'bellwire/config'
    import { createInbox, type Inbox } from 'bellwire/inbox'
    import type { BellwireInbox, InboxTexts } from 'bellwire/inbox-element'
    if (operator.createOperator !== createOperator || platform.createPlatform !== createPlatform) throw new Error('two copies')
    const all: unknown[] = [guard, operatorApi, kafkaPublisher, amqpConsumer, contract.messageKey, devices.createDeviceClient, config.readOperatorOptions]
    const inbox: Inbox = createInbox({ url: 'https://api.example.com', getToken: async () => null })
    const text = (element: BellwireInbox, texts: Partial<InboxTexts>): number => (element.texts = texts, inbox.state.unread)
    all.push(text, inbox.start)
    console.log(all.every((each) => typeof each === 'function'))`
  await writeFile(join(folder, 'use.ts'), program)
  assert.equal(await run(process.execPath, ['use.ts'], { cwd: folder }), 'true\n')
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--checkers',
    '1',
    ...types,
  ]
  await run(join(root, 'node_modules/.bin/tsc'), ['--noEmit', ...strict, 'use.ts'], { cwd: folder })
})

/** A project with Express, the installed package and the programs of docs/library.md. */
const mounted = join(folder, 'mounted')
async function prepareMounted(): Promise<void> {
  await cp(join(folder, 'node_modules/bellwire/examples/library'), mounted, { recursive: true })
  await writeFile(join(mounted, 'package.json'), '{"name":"mounted","type":"module","private":true}')
  await mkdir(join(mounted, 'node_modules'))
  await symlink(join(root, 'node_modules/express'), join(mounted, 'node_modules/express'))
}
if (!missing) await prepareMounted()

/** Starts the installed `bellwire …` on a version of Node. */
function bellwire(t: TestContext, node: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  return startProgram(t, [node, join(folder, 'node_modules/bellwire/bin/bellwire.cjs'), ...args], env)
}

for (const [version, { skip, program: node }] of nodes) {
  if (version === tooOld) continue
  const title = `Node ${version}`

  test(`${title}: the command shows its help, and refuses a wrong configuration`, { skip }, async (t) => {
    const help = await bellwire(t, node, ['--help']).ended
    assert.deepEqual([help.code, help.err], [0, ''])
    assert.match(help.out, /^Usage: bellwire /)
    const config = join(folder, `wrong-${version}.yaml`)
    await writeFile(config, 'operator: {prot: 7001}\n')
    const { code, err } = await bellwire(t, node, ['config', '--check', '--config', config]).ended
    assert.equal(code, 2)
    assert.match(err, /operator\.prot: unknown setting\n {4}did you mean port\?/)
  })

  // On this Node, other tests run the same source: the demo, the examples and the programs of docs/library.md.
  if (version === process.versions.node) continue

  test(`${title}: the demo delivers through FCM, APNs and Web Push`, { skip }, async (t) => {
    const { code, out, err } = await bellwire(t, node, ['demo', '--once']).ended
    assert.deepEqual([code, err], [0, ''], out)
    assert.match(out, /Everything arrived as expected/)
  })

  // The others run the same package; the demo above starts both of its sides there.
  if (version !== oldest[0]) continue

  test(`${title}: a copy of the examples runs`, { skip }, async (t) => {
    const examples = join(folder, `examples-${version}`)
    await cp(join(folder, 'node_modules/bellwire/examples'), examples, { recursive: true })
    const send = (url: string, user: string, brand: number) => {
      const activity = { id: brand, brand_id: brand, user_id: user, activity_id: 1, action_id: 1, trigger_hash: 'h' }
      return post(`${url}/channels/push/single`, { activity, title: 'Hello' }, `example-operator-key-1`)
    }
    const serve = async (file: string, work: (url: string, operator: Started) => Promise<void>): Promise<void> => {
      const operator = bellwire(t, node, ['operator', '-c', join(examples, file)], { BELLWIRE_OPERATOR_PORT: '0' })
      const { url } = JSON.parse(await operator.line(/"server\.listening"/)) as { url: string }
      await work(url, operator)
      operator.child.kill('SIGTERM')
      const { code, err } = await operator.ended
      assert.deepEqual([code, err], [0, ''], file)
    }
    await serve('bellwire.yaml', async (url) => {
      const first = await send(url, '1001', 1)
      assert.equal(first.status, 200, first.text)
      assert.equal((await send(url, '1001', 1)).body.push_id, first.body.push_id)
    })
    await serve('modules.yaml', async (url, operator) => {
      assert.equal((await send(url, '1002', 1)).status, 422)
      assert.equal((await send(url, '1002', 2)).status, 200)
      await operator.line(/^to 1002 of brand 2: Hello$/)
    })
    await serve('devices.yaml', async (url, operator) => {
      assert.equal((await send(url, '1001', 2)).status, 200)
      await operator.line(/^pager pager-8: Hello/)
    })
    const checked = await bellwire(t, node, ['config', '--check', '-c', join(examples, 'onesignal.yaml')]).ended
    assert.deepEqual([checked.code, checked.err], [0, ''])
  })

  for (const program of ['operator-express', 'operator-fastify', 'operator-http'])
    test(`${title}: mounted, ${program} accepts messages`, { skip }, async (t) => {
      const [port, adminPort] = [await freePort(), await freePort()]
      const started = startProgram(t, [node, join(mounted, `${program}.ts`)], {
        API_KEY: 'the-key-of-the-platform',
        ADMIN_KEY: 'the-key-of-the-back-office',
        STORE: `sqlite:${join(mounted, `${program}-${version}.db`)}`,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
      })
      const ready = (): Promise<boolean> =>
        fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
          ({ status }) => status === 200,
          () => started.child.exitCode !== null,
        )
      await until(ready, { withinMs: 30_000, awaited: `${program} is ready` })
      const prefix = program === 'operator-http' ? '' : '/bellwire'
      const activity = { id: 1, brand_id: 1, user_id: '1001', activity_id: 1, action_id: 1, trigger_hash: 'h' }
      const path = `http://127.0.0.1:${port}${prefix}/channels/push/single`
      const sent = await post(path, { activity, title: 'Hello' }, 'the-key-of-the-platform')
      assert.equal(sent.status, 200, sent.text)
      started.child.kill('SIGTERM')
      assert.equal((await started.ended).code, 0)
    })
}

const old = nodes.get(tooOld)
test('Node 20: every command names the required version, and exits with 1', { skip: old?.skip ?? false }, async (t) => {
  const expected: Run = {
    code: 1,
    out: '',
    err: 'Bellwire needs Node 22.19 or later; this is v20.20.2. Install a newer one in your project (npm install node@24), with your version manager (nvm install --lts), or from https://nodejs.org\n',
  }
  for (const args of [['--help'], ['operator'], ['config', '--check', '--config', 'none.yaml']])
    assert.deepEqual(await bellwire(t, old?.program ?? '', args).ended, expected)
})

test('a feature whose package is not installed names the install command', { skip: missing }, async (t) => {
  const config = join(folder, 'kafka.yaml')
  const keys = 'keys: [{name: platform, key: a-key-of-the-platform-1, brands: [1]}]'
  const publish = 'publish: [{brand: 1, to: {kafka: ["127.0.0.1:9092"]}}]'
  const settings = `operator:\n  port: 0\n  store: sqlite:kafka.db\n  ${keys}\n  suppression: none\n  site: inbox\n`
  await writeFile(config, `${settings}  ${publish}\n`)
  const { code, err } = await bellwire(t, process.execPath, ['config', '--check', '-c', config]).ended
  assert.equal(code, 2, err)
  assert.match(
    err,
    /operator\.publish\[0\]\.to: needs the package @platformatic\/kafka, which is not installed\n {4}npm install @platformatic\/kafka@2/,
  )

  await writeFile(config, settings)
  const traces = { OTEL_TRACES_EXPORTER: 'console' }
  const traced = await bellwire(t, process.execPath, ['operator', '-c', config], traces).ended
  assert.equal(traced.code, 2)
  assert.equal(
    traced.err,
    'bellwire: tracing (OTEL_…) needs the package @opentelemetry/sdk-node, which is not installed: npm install @opentelemetry/sdk-node@0\n',
  )

  const operator = bellwire(t, process.execPath, ['operator', '-c', config])
  const { url } = JSON.parse(await operator.line(/"server\.listening"/)) as { url: string }
  const page = await fetch(`${url}/docs`)
  assert.equal(page.status, 501)
  assert.deepEqual(await page.json(), {
    error:
      'GET /docs needs the package @scalar/fastify-api-reference, which is not installed: npm install @scalar/fastify-api-reference@1',
  })
  assert.equal((await fetch(`${url}/openapi.json`)).status, 200)
})

test('a TypeScript example that was not copied out of node_modules fails with the remedy', {
  skip: missing,
}, async (t) => {
  const config = join(folder, 'node_modules/bellwire/examples/modules.yaml')
  const { code, err } = await bellwire(t, process.execPath, ['operator', '-c', config]).ended
  assert.equal(code, 2)
  assert.match(err, /copy the file, and the configuration that names it, into your project/)
})
