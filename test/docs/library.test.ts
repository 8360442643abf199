// docs/library.md links the programs of examples/library, and shows one. Each program runs as a separate process.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { environment } from '../cli/bellwire.ts'
import { freePort } from '../support/free-port.ts'
import { importOptions } from '../support/quick-imports/import-options.ts'
import { element, keys, post, startOperator, temporary, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const root = join(import.meta.dirname, '../..')
const programs = globSync('examples/library/*.ts', { cwd: root }).map((file) => basename(file, '.ts'))
const secrets = { api: 'the-key-of-the-platform', admin: 'the-key-of-the-back-office', crm: 'the-key-of-the-crm-0001' }

test('docs/library.md links every program of examples/library, and shows one unchanged', async () => {
  const page = await readFile(join(root, 'docs/library.md'), 'utf8')
  assert.equal(programs.length, 6)
  for (const program of programs) assert.ok(page.includes(`](../examples/library/${program}.ts)`), program)
  assert.ok(page.includes(await readFile(join(root, 'examples/library/operator-express.ts'), 'utf8')))
})

for (const program of programs.filter((name) => name.startsWith('operator-')))
  test(`${program} accepts messages, does not publish its administration, and stops gracefully`, async (t) => {
    const { mounted, admin, stop } = await startExample(t, program, { API_KEY: secrets.api, ADMIN_KEY: secrets.admin })
    const sent = await post(`${mounted}/channels/push/single`, element(), secrets.api)
    assert.equal(sent.status, 200, sent.text)
    const summary = await fetch(`${admin}/admin/summary`, { headers: { 'x-api-key': secrets.admin } })
    assert.equal(((await summary.json()) as { successful: number }).successful, 1)
    assert.match(await stop(), new RegExp(`"message.settled".*${sent.body.push_id}`))
  })

for (const program of programs.filter((name) => name.startsWith('platform-')))
  test(`${program} delivers the messages of the CRM, does not publish its administration, and stops gracefully`, async (t) => {
    const push = witness()
    const operator = await startOperator(t, { push })
    const env = { CRM_KEY: secrets.crm, OPERATOR_URL: operator.url, OPERATOR_KEY: keys.one.key }
    const { mounted, admin, stop } = await startExample(t, program, env)
    const put = await fetch(`${admin}/admin/activities/push`, {
      method: 'POST',
      headers: { 'x-api-key': secrets.crm, 'content-type': 'application/json' },
      body: JSON.stringify([element(), element()]),
    })
    assert.equal(put.status, 200, await put.text())
    await until(() => push.received.length === 2, { withinMs: 20_000, awaited: 'both messages arrive' })
    const refused = await post(`${mounted}/v1/integration/user/device/link`, {}, 'an-unknown-key')
    assert.equal(refused.status, 401)
    assert.match(await stop(), /"lanes\.divided"/)
  })

interface Running {
  /** The public address, with the prefix of the mounted part. */
  readonly mounted: string
  readonly admin: string
  /** Stops the program with SIGTERM. @returns the log */
  stop(): Promise<string>
}

/** Starts a program, and checks that it publishes no administration and logs no secret. */
async function startExample(t: TestContext, program: string, more: NodeJS.ProcessEnv): Promise<Running> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const hook = new URL('../support/from-source.ts', import.meta.url).href
  const env = {
    ...environment,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    STORE: `sqlite:${join(await temporary(t), 'store.db')}`,
    ...more,
  }
  const child = spawn(
    process.execPath,
    [...importOptions, '--import', hook, join(root, `examples/library/${program}.ts`)],
    { env },
  )
  t.after(() => child.kill('SIGKILL'))
  let log = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const [url, admin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`]
  const ready = (): Promise<boolean> =>
    fetch(`${admin}/readyz`).then(
      ({ status }) => status === 200,
      () => child.exitCode !== null,
    )
  await until(ready, { withinMs: 30_000, awaited: `${program} is ready` })
  assert.equal(child.exitCode, null, errors)

  assert.equal(await (await fetch(url)).text(), 'Your page')
  for (const path of ['/metrics', '/docs', '/admin/summary', '/bellwire/metrics', '/bellwire/admin/summary'])
    assert.equal((await fetch(url + path)).status, 404, path)
  assert.equal((await fetch(`${admin}/metrics`)).status, 200)

  return {
    mounted: program.endsWith('-http') ? url : `${url}/bellwire`,
    admin,
    async stop() {
      const ended = once(child, 'close', { signal: AbortSignal.timeout(30_000) })
      child.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null], errors)
      for (const secret of Object.values(secrets)) assert.ok(!log.includes(secret) && !errors.includes(secret))
      return log
    },
  }
}
