// Invalid requests to the send endpoints, over HTTP: each gets a clear error, and other requests are not affected.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { element, keys, post, startOperator, witness } from '../support/sides.ts'

const single = '/channels/push/single'
const batch = '/channels/push/batch'

onSqlite('an unreadable single request is 400 with an error, and nothing is sent', async (t, store) => {
  const push = witness()
  const { url } = await startOperator(t, { store, push })
  const good = element()
  const text = JSON.stringify(good)
  const bad: Record<string, string | Uint8Array> = {
    'not JSON': '{"activity":',
    'an empty body': '',
    'an array': JSON.stringify([good]),
    'a string': '"activity"',
    null: 'null',
    'no activity': '{"title":"Hello"}',
    'activity is a list': '{"activity":[]}',
    'no id': JSON.stringify(element({ id: undefined })),
    'no user_id': JSON.stringify(element({ user_id: undefined })),
    'no brand_id': JSON.stringify(element({ brand_id: undefined })),
    'an empty user_id': JSON.stringify(element({ user_id: '' })),
    'a number as user_id': JSON.stringify(element({ user_id: 1001 })),
    'a string as brand_id': JSON.stringify(element({ brand_id: 'x' })),
    'id −1': text.replace(/"id":\d+/, '"id":-1'),
    'id 1.0': text.replace(/"id":\d+/, '"id":1.0'),
    'id 1e3': text.replace(/"id":\d+/, '"id":1e3'),
    'id 1e400': text.replace(/"id":\d+/, '"id":1e400'),
    'id 2^63': text.replace(/"id":\d+/, '"id":9223372036854775808'),
    'id true': text.replace(/"id":\d+/, '"id":true'),
    'id null': text.replace(/"id":\d+/, '"id":null'),
    'id ""': text.replace(/"id":\d+/, '"id":""'),
    'U+0000': text.replace('Hello', 'a\\u0000b'),
    'a lone surrogate': text.replace('Hello', 'a\\ud800b'),
    'invalid UTF-8': Buffer.concat([Buffer.from('{"activity":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    '10,000 levels of nesting': text.replace('"Hello"', '['.repeat(10_000) + ']'.repeat(10_000)),
  }
  for (const [name, body] of Object.entries(bad)) {
    const answer = await post(url + single, body)
    assert.equal(answer.status, 400, `${name}: ${answer.status} ${answer.text}`)
    assert.equal(typeof answer.body.error, 'string', name)
    assert.ok(answer.body.error.length > 10, `${name}: ${answer.text}`)
  }
  assert.equal(push.received.length, 0)
  assert.equal((await post(url + single, good)).status, 200)
  assert.equal(push.received.length, 1)
})

onSqlite('an invalid item of a batch is failed, and the other items are delivered', async (t, store) => {
  const push = witness()
  const { url } = await startOperator(t, { store, push })
  const good = [element(), element({ brand_id: 2 }), element()]
  const texts = good.map((each) => JSON.stringify(each))
  const bad = [
    texts[0]?.replace(/"id":\d+/, '"id":-1'),
    texts[0]?.replace(/"id":\d+/, '"id":9223372036854775808'),
    texts[0]?.replace(/"id":\d+/, '"id":"bad-user"').replace('"1001"', '5'),
    texts[0]?.replace(/"id":\d+/, '"id":"bad-text"').replace('Hello', 'a\\u0000b'),
    texts[0]?.replace(/"id":\d+/, '"id":"deep"').replace('"Hello"', '['.repeat(10_000) + ']'.repeat(10_000)),
    '{"title":"no activity"}',
    '17',
  ]
  const body = `[${texts[0]},${bad.join(',')},${texts[1]},${texts[2]}]`
  const answer = await post(url + batch, body)
  assert.equal(answer.status, 200)
  assert.deepEqual(
    answer.body.successful.map((item: { id: number }) => item.id),
    good.map((each) => each.activity.id),
  )
  assert.match(answer.text, /"id":9223372036854775808[,}]/)
  const failed = answer.body.failed.map((item: { id: unknown }) => item.id)
  assert.deepEqual(failed.slice(0, 1).concat(failed.slice(2)), [-1, 'bad-user', 'bad-text', 'deep'])
  assert.deepEqual(answer.body.fatal, [])
  for (const item of answer.body.failed) assert.ok(item.error.length > 10)
  assert.equal(push.received.length, 3)
})

onSqlite('large integers come back exactly, and strings stay strings', async (t, store) => {
  const push = witness()
  const { url } = await startOperator(t, { store, push })
  const ids = ['9007199254740993', '9223372036854775807', '0', '"9007199254740993x"', '"5"']
  const body = `[${ids.map((id) => JSON.stringify(element()).replace(/"id":\d+/, `"id":${id}`)).join(',')}]`
  const answer = await post(url + batch, body)
  for (const id of ids)
    assert.ok(answer.text.includes(`"id":${id},`) || answer.text.includes(`"id":${id}}`), `${id} in ${answer.text}`)
  assert.deepEqual(
    push.received.map((m) => m.id),
    ['9007199254740993', '9223372036854775807', '0', '9007199254740993x', '5'],
  )
})

onSqlite('a batch that is not an array of messages is refused as a whole', async (t, store) => {
  const push = witness()
  const { url } = await startOperator(t, { store, push })
  for (const body of ['', '{}', 'null', '[1', '[{"activity":{}}', `[${JSON.stringify(element())}] x`]) {
    const answer = await post(url + batch, body)
    assert.equal(answer.status, 400, body)
    assert.equal(typeof answer.body.error, 'string')
  }
  assert.equal(push.received.length, 0)
})

onSqlite('an empty batch is answered with three empty lists', async (t, store) => {
  const { url } = await startOperator(t, { store })
  const answer = await post(url + batch, '[]')
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body, { successful: [], failed: [], fatal: [] })
})

onSqlite('items beyond the maximum of a batch are fatal, and the others are delivered', async (t, store) => {
  const push = witness()
  const { url } = await startOperator(t, { store, push, limits: { batchMax: 9_000 } })
  const items = Array.from({ length: 10_000 }, () => element())
  const answer = await post(url + batch, items)
  assert.equal(answer.status, 200)
  assert.equal(answer.body.successful.length, 9_000)
  assert.equal(answer.body.fatal.length, 1_000)
  assert.equal(push.received.length, 9_000)
})

onSqlite('a 20 MB body is 413 and names the limit, and the server still works', async (t, store) => {
  const { url } = await startOperator(t, { store })
  const answer = await post(url + batch, Buffer.alloc(20 * 1024 * 1024, 0x20)).catch((error: Error) => error)
  // The server may close the connection while the body is being sent: HTTP allows both.
  if (!(answer instanceof Error)) {
    assert.equal(answer.status, 413)
    assert.match(answer.body.error, /body_bytes/)
  }
  assert.equal((await post(url + single, element())).status, 200)
})

onEachEngine(
  'a message that occurs twice in a batch is sent and reported once; the same id with another user is another message',
  async (t, store) => {
    const push = witness()
    const { url } = await startOperator(t, { store, push })
    const one = element()
    const other = { ...one, activity: { ...one.activity, user_id: '2002' } }
    const answer = await post(url + batch, [one, one, other])
    assert.equal(answer.body.successful.length, 1)
    assert.deepEqual(push.received.map((m) => m.userId).sort(), ['1001', '2002'])
  },
)

onSqlite('two brands with the same user and activity ids are two messages', async (t, store) => {
  const push = witness()
  const { url } = await startOperator(t, { store, push })
  const one = element()
  const two = { ...one, activity: { ...one.activity, brand_id: 2 } }
  const [first, second] = [await post(url + single, one), await post(url + single, two)]
  assert.notEqual(first.body.push_id, second.body.push_id)
  assert.deepEqual(
    push.received.map((m) => m.brand),
    ['1', '2'],
  )
})

onSqlite('a wrong or missing key is 401 with a remedy; a brand of another key is 503', async (t, store) => {
  const push = witness()
  const { url } = await startOperator(t, { store, push })
  for (const path of [single, batch, '/channels/site/single', '/channels/site/batch']) {
    for (const key of ['wrong', undefined]) {
      const answer = await post(url + path, element(), key === undefined ? '' : key)
      assert.equal(answer.status, 401, path)
      assert.match(answer.body.error, /X-Api-Key|operator for the key/)
    }
  }
  const answer = await post(url + single, element(), keys.two.key)
  assert.equal(answer.status, 503)
  assert.match(answer.body.error, /brand 1/)
  assert.ok(answer.headers.get('retry-after'))
  const mixed = await post(url + batch, [element(), element({ brand_id: 2 })], keys.two.key)
  assert.equal(mixed.body.fatal.length, 1)
  assert.equal(mixed.body.successful.length, 1)
  assert.equal(push.received.length, 1)
})

onSqlite('an unknown path is 404, and a wrong method is 405 with the allowed methods', async (t, store) => {
  const { url } = await startOperator(t, { store })
  const missing = await post(`${url}/channels/mail/single`, element())
  assert.equal(missing.status, 404)
  assert.equal(typeof missing.body.error, 'string')
  const wrong = await fetch(url + single, { headers: { 'x-api-key': keys.one.key } })
  assert.equal(wrong.status, 405)
  assert.equal(wrong.headers.get('allow'), 'POST')
  assert.equal(typeof ((await wrong.json()) as { error: string }).error, 'string')
})

onSqlite('a compressed body is 415 with a remedy', async (t, store) => {
  const { url } = await startOperator(t, { store })
  const answer = await post(url + single, gzipSync(JSON.stringify(element())), keys.one.key, {
    'content-encoding': 'gzip',
  })
  assert.equal(answer.status, 415)
  assert.match(answer.body.error, /uncompressed/)
})

onSqlite(
  'a body that arrives too slowly is answered 503, is not lost by it (§7.1), and delays no other request',
  async (t, store) => {
    const { url } = await startOperator(t, { store, testing: { bodyTimeoutMs: 1_000 } })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(`POST ${single} HTTP/1.1\r\nhost: x\r\nx-api-key: ${keys.one.key}\r\ncontent-length: 1000\r\n\r\n{`)
    const received = new Promise<string>((resolve) => {
      let text = ''
      socket.on('data', (chunk) => (text += String(chunk)))
      socket.on('close', () => resolve(text))
    })
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(url + single, element())))
    assert.ok(answers.every((answer) => answer.status === 200))
    const text = await received
    assert.match(text, /^HTTP\/1\.1 503 /)
    assert.match(text, /"error":/)
  },
)

onSqlite(
  'a request whose connection ends in the middle is answered 503 and is not lost by it (§7.1)',
  async (t, store) => {
    const { url } = await startOperator(t, { store })
    const head = `POST ${single} HTTP/1.1\r\nhost: x\r\nx-api-key: ${keys.one.key}\r\n`
    for (const part of [
      `${head}content-length: 1000\r\n\r\n{`,
      `${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
      head,
    ]) {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
      t.after(() => socket.destroy())
      let text = ''
      socket.on('data', (chunk) => (text += String(chunk)))
      socket.end(part)
      await once(socket, 'end')
      assert.match(text, /^HTTP\/1\.1 503 /)
      assert.match(text, /\r\nretry-after: 1\r\n/)
    }
  },
)

onSqlite('after an error, the connection can be used for the next request', async (t, store) => {
  const { url } = await startOperator(t, { store })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  const request = (body: string, key: string): string =>
    `POST ${single} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  let text = ''
  const threeAnswers = new Promise<void>((resolve) =>
    socket.on('data', (chunk) => {
      text += String(chunk)
      if ((text.match(/HTTP\/1\.1 /g)?.length ?? 0) === 3 && text.endsWith('}')) resolve()
    }),
  )
  socket.write(request('{', keys.one.key) + request('{}', 'wrong') + request(JSON.stringify(element()), keys.one.key))
  await threeAnswers
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 401', 'HTTP/1.1 200'])
})

onSqlite('a provider that throws, hangs or returns malformed results makes messages fatal', async (t, store) => {
  const { url } = await startOperator(t, {
    store,
    limits: { providerTimeoutMs: 300 },
    push: {
      name: 'unreliable',
      max: 1,
      async send([message]) {
        if (message?.userId === 'throws') throw new Error('no')
        if (message?.userId === 'hangs') return new Promise(() => {})
        if (message?.userId === 'nothing') return []
        if (message?.userId === 'nonsense') return [{ category: 'maybe' } as never]
        if (message?.userId === 'undefined') return undefined as never
        return [{ category: 'successful', rule: 'accepted' }]
      },
    },
  })
  const answer = await post(
    url + batch,
    ['throws', 'hangs', 'nothing', 'nonsense', 'undefined', 'fine'].map((user_id) => element({ user_id })),
  )
  assert.equal(answer.status, 200)
  assert.equal(answer.body.fatal.length, 5)
  assert.equal(answer.body.successful.length, 1)
  const alone = await post(url + single, element({ user_id: 'throws' }))
  assert.equal(alone.status, 503)
  assert.ok(alone.headers.get('retry-after'))
})
