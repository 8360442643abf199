import assert from 'node:assert/strict'
import test from 'node:test'
import type { Clients } from '../../src/demo/clients.ts'
import type { Entry, Journal } from '../../src/demo/journal.ts'
import { startPageServer } from '../../src/demo/page-server.ts'
import { createRecords } from '../../src/demo/records.ts'

test('the page needs nothing from anywhere else', async (t) => {
  const server = await startPageServer(0)
  t.after(() => server.close())
  const seen = new Set<string>()
  const look = async (path: string): Promise<void> => {
    if (seen.has(path)) return
    seen.add(path)
    const response = await fetch(server.url + path)
    assert.equal(response.status, 200, path)
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    const text = await response.text()
    assert.doesNotMatch(
      text.replaceAll('http://www.w3.org/2000/svg', ''),
      /(?:src|href|url\(|from|import)\W{1,3}(?:https?:)?\/\//,
      path,
    )
    for (const [, next = ''] of text.matchAll(/(?:src|href)="(\/[^"]+\.\w+)"|from '([^']+)'/g))
      if (next) await look(next)
    for (const [, next = ''] of text.matchAll(/from '([^']+)'/g)) await look(new URL(next, server.url + path).pathname)
  }
  await look('/')
  assert.ok(seen.has('/vendor/eventsource-parser/index.js') && seen.has('/vendor/eventsource-parser/parse.js'))
  assert.ok(seen.has('/style.css') && seen.has('/art/bell.svg'))
})

test('what is not there, and who is not there, is said', async (t) => {
  const server = await startPageServer(0)
  t.after(() => server.close())
  const post = (path: string, body: string, type = 'application/json'): Promise<Response> =>
    fetch(server.url + path, { method: 'POST', headers: { 'content-type': type }, body })
  for (const path of ['/nothing', '/../package.json', '/%2e%2e/demo.ts'])
    assert.equal((await fetch(server.url + path)).status, 404)
  assert.equal((await fetch(`${server.url}/demo/cast`)).status, 503)
  const entries: Entry[] = []
  const sent: string[] = []
  server.connect({
    operator: 'http://operator',
    clients: {
      subscriberToken: async (brand: string, user: string) => ({ token: `${brand}/${user}` }),
    } as unknown as Clients,
    journal: {
      entries,
      onChange: () => () => {},
      send: async ([sample]) => {
        sent.push(`${sample?.brand.id}/${sample?.person.id}`)
        return []
      },
    } as Partial<Journal> as Journal,
    records: createRecords(server.url),
  })
  for (const brand of ['1', '2']) {
    const who = JSON.stringify({ brand, user_id: '1001' })
    assert.deepEqual(await (await post('/demo/token', who)).json(), { token: `${brand}/1001` })
    assert.equal((await post('/demo/send', who)).status, 202)
  }
  assert.deepEqual(sent, ['1/1001', '2/1001'])
  assert.equal((await post('/demo/token', '{"brand":"3","user_id":"1001"}')).status, 400)
  assert.equal((await post('/demo/send', '{"brand":"1","user_id":"1001"}', 'text/plain')).status, 400)
  assert.equal((await post('/demo/send', 'x'.repeat(20_000))).status, 400)
  assert.equal(sent.length, 2)
})
