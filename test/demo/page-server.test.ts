import assert from 'node:assert/strict'
import test from 'node:test'
import type { Clients } from '../../src/tools/demo/clients.ts'
import type { Entry } from '../../src/tools/demo/entry.ts'
import type { Journal } from '../../src/tools/demo/journal.ts'
import { startPageServer } from '../../src/tools/demo/page-server.ts'
import type { Change, Phone, Phones } from '../../src/tools/demo/phones.ts'
import { createRecords } from '../../src/tools/demo/records.ts'
import type { Servers } from '../../src/tools/demo/servers.ts'

test('the page loads no resources from other servers', async (t) => {
  const server = await startPageServer(0)
  t.after(() => server.close())
  const seen = new Set<string>()
  const visit = async (path: string): Promise<void> => {
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
      if (next) await visit(next)
    for (const [, next = ''] of text.matchAll(/from '([^']+)'/g)) await visit(new URL(next, server.url + path).pathname)
  }
  await visit('/site')
  assert.ok(seen.has('/bellwire/inbox-element.js'))
  assert.ok(seen.has('/style.css') && seen.has('/art/bell.svg'))
})

test('an unknown path and an unknown user are refused', async (t) => {
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
    servers: { operator: { url: 'http://operator' } } as unknown as Servers,
    clients: {
      subscriberToken: async (brand: string, user: string) => ({ token: `${brand}/${user}` }),
    } as unknown as Clients,
    journal: {
      entries,
      onChange: () => () => {},
      send: async ([sample]) => {
        sent.push(`${sample?.brand.id}/${sample?.person.id} ${sample?.channel}`)
        return []
      },
    } as Partial<Journal> as Journal,
    records: createRecords(server.url),
    phones: onePhone().phones,
  })
  for (const brand of ['1', '2']) {
    const who = JSON.stringify({ brand, user_id: '1001' })
    assert.deepEqual(await (await post('/demo/token', who)).json(), { token: `${brand}/1001` })
    assert.equal((await post('/demo/send', who)).status, 202)
    assert.equal((await post('/demo/send', who.replace('}', ',"channel":"push"}'))).status, 202)
  }
  assert.deepEqual(sent, ['1/1001 site', '1/1001 push', '2/1001 site', '2/1001 push'])
  assert.equal((await post('/demo/token', '{"brand":"3","user_id":"1001"}')).status, 400)
  assert.equal((await post('/demo/send', '{"brand":"1","user_id":"1001"}', 'text/plain')).status, 415)
  assert.equal((await post('/demo/send', 'x'.repeat(20_000))).status, 400)
  assert.equal((await post('/demo/send', '{"brand":"1","user_id":"1001","channel":"fax"}')).status, 400)
  assert.equal((await post('/demo/send', 'null')).status, 400)
  assert.equal(sent.length, 4)
  for (const wrong of ['{"id":"9/9/9","online":true}', '{"id":"2/1002/1"}', '{"id":"2/1002/1","online":"no"}'])
    assert.equal((await post('/demo/phone', wrong)).status, 400)
})

test('the complete state of a phone, without its token, is sent at first and after each change', async (t) => {
  const server = await startPageServer(0)
  t.after(() => server.close())
  const { phones, listeners } = onePhone()
  server.connect({
    servers: { operator: { url: 'http://operator' } } as unknown as Servers,
    clients: {} as Clients,
    journal: { entries: [], onChange: () => () => {} } as Partial<Journal> as Journal,
    records: createRecords(server.url),
    phones,
  })
  const stream = await fetch(`${server.url}/demo/events`)
  const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  t.after(() => reader.cancel())
  let text = ''
  const nextState = async (): Promise<{ online: boolean }> => {
    for (;;) {
      const found = /event: phone\ndata: (.*)\n\n/.exec(text)
      if (found) {
        text = text.slice(found.index + found[0].length)
        return JSON.parse(found[1] as string)
      }
      const { value, done } = await reader.read()
      assert.ok(!done, 'the stream ended')
      text += value
    }
  }
  const state = {
    id: '2/1002/1',
    brand: '2',
    user_id: '1002',
    name: 'Android phone',
    service: 'fcm',
    online: false,
    waiting: 1,
    total: 1,
    notes: [{ id: 'a', title: 'Hello', at: 5 }],
  }
  assert.deepEqual(await nextState(), state)
  const response = await fetch(`${server.url}/demo/phone`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"id":"2/1002/1","online":true}',
  })
  assert.deepEqual(await response.json(), { ...state, online: true })
  assert.deepEqual(await nextState(), { ...state, online: true })
  assert.equal(listeners.size, 1)
})

function onePhone(): { phones: Phones; listeners: ReadonlySet<unknown> } {
  const listeners = new Set<(phone: Phone, change: Change) => void>()
  const link = { token: 'SECRET', provider: 'firebase', channel: 'android' } as const
  const phone = { id: '2/1002/1', brand: '2', userId: '1002', owner: 'Aiko', name: 'Android phone', link }
  const list = [{ ...phone, service: 'fcm' as const, online: false }]
  const phones: Partial<Phones> = {
    list,
    shown: () => [{ tag: 'a', title: 'Hello', at: 5, data: {}, replaced: 0 }],
    kept: () => [{ tag: 'b', data: {} }],
    setOnline(id, online) {
      const found = list.find((each) => each.id === id)
      if (found) found.online = online
      if (found) for (const listener of listeners) listener(found, 'connection')
      return found
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return { phones: phones as Phones, listeners }
}
