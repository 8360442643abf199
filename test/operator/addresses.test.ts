// An address with a slash too many reaches its endpoint: a 404 would lose each message (§7.1).

import assert from 'node:assert/strict'
import test from 'node:test'
import { adminKey, element, keys, post, startOperator } from '../support/sides.ts'

test('a base address with a slash at its end, and a path with one, reach the endpoints of §4.1', async (t) => {
  const { url } = await startOperator(t, { adminKeys: [adminKey] })
  for (const [i, path] of ['//channels/push/single', '/channels/push/single/', '//channels//site/single/'].entries())
    assert.equal((await post(url + path, element({ id: i + 1 }), keys.one.key)).status, 200, path)
  for (const path of ['//channels/push/batch', '/channels/site/batch/'])
    assert.equal((await post(url + path, [element({ id: path })], keys.one.key)).status, 200, path)
  assert.equal((await post(`${url}//channels/push/single`, element())).status, 200)
  assert.equal((await post(`${url}//admin/people/erase/`, { brand: '1', user_id: 'x' }, 'wrong')).status, 401)
})

test('a brand in a JSON body is a number, as in the activity record, or a text', async (t) => {
  const secret = 'the-secret-of-the-test-of-brands-0001'
  const { url } = await startOperator(t, { adminKeys: [adminKey], app: { secrets: [secret] } })
  for (const brand of [1, '1'])
    for (const path of ['/admin/subscriber-tokens', '/admin/people/erase'])
      assert.equal((await post(url + path, { brand, user_id: '1001' }, adminKey.key)).status, 200, `${path} ${brand}`)
  const refused = await post(`${url}/admin/people/erase`, { brand: 1.5, user_id: '1001' }, adminKey.key)
  assert.deepEqual([refused.status, /brand/.test(refused.body.error)], [400, true])
})
