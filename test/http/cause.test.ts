import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { createAcceptedKeys } from '../../src/base/http/accepted-keys.ts'
import type { AccessKey } from '../../src/base/http/access.ts'
import { createHttp } from '../../src/base/http/http.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { adminRoute, registerAdmin } from '../../src/sides/admin/route.ts'
import { openTrail } from '../support/audit.ts'

const cause = 'PostgreSQL: connect ECONNREFUSED'

test('a key with the scope counts is told why the store cannot answer; another key is not', async (t) => {
  const app = createHttp('platform', 1024)
  t.after(() => app.close())
  const reads = {
    name: 'reader',
    key: 'the-key-of-the-reader',
    scopes: ['counts', 'decide'],
  } as const
  const other = { name: 'other', key: 'the-key-of-the-other', scopes: ['decide'] } as const
  registerAdmin(
    app,
    createAcceptedKeys<AccessKey>([reads, other]),
    [
      {
        method: 'GET',
        url: '/admin/test',
        scope: 'decide',
        act: null,
        ...adminRoute({
          says: 'Fails.',
          gives: Type.Object({}),
          handler: async () => {
            throw new StoreUnavailable(cause)
          },
        }),
      },
    ],
    await openTrail(t),
  )
  const errorFor = async ({ key }: { readonly key: string }) => {
    const { statusCode, body } = await app.inject({ url: '/admin/test', headers: { 'x-api-key': key } })
    assert.equal(statusCode, 503)
    return JSON.parse(body).error as string
  }
  assert.equal(await errorFor(reads), `the server cannot answer now: ${cause}`)
  assert.match(await errorFor(other), /its log says why/)
})
