import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import test from 'node:test'
import { listenLocally } from '../support/listen-locally.ts'
import { temporary } from '../support/sides.ts'
import { run } from './bellwire.ts'

test('alerts test sends a test to each receiver, and names the one that did not accept it', async (t) => {
  const received: string[] = []
  const server = createServer(({ url = '' }, response) => {
    received.push(url)
    response.writeHead(url === '/good' ? 200 : 404).end()
  })
  const { url } = await listenLocally(t, server)
  const config = join(await temporary(t), 'bellwire.yaml')
  const receivers = ['good', 'wrong'].map((path) => `{webhook: "${url}/${path}"}`).join(', ')
  await writeFile(config, `platform: {keys: [], alerts: {to: [${receivers}]}}\n`)
  const { code, out } = await run(['alerts', 'test', '--config', config])
  assert.equal(code, 1)
  assert.match(
    out,
    /^✓ platform\.alerts: webhook 127\.0\.0\.1:\d+ accepted the test\n✗ platform\.alerts: .* answered 404\n$/,
  )
  assert.deepEqual(received.sort(), ['/good', '/wrong'])
})
