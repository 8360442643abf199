import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test from 'node:test'
import { createCaller } from '../../src/base/http-client/caller.ts'
import { requestPage } from '../../src/subjects/conversions/request-page.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { requestList } from '../../src/subjects/reconcile/request-list.ts'
import { listenLocally } from '../support/listen-locally.ts'

test('the query of an operator’s address is sent with sends, reconciliation and polls', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(500).end()
  })
  const url = `${(await listenLocally(t, server)).url}/api/?tenant=1`
  const signal = new AbortController().signal
  const operator = createCaller({ url })
  t.after(operator.destroy)
  await assert.rejects(requestList({ url, apiKey: 'k', field: 'blocked', idleMs: 5_000, totalMs: 5_000, signal }))
  await assert.rejects(requestPage({ operator, after: 'c', timeoutMs: 5_000, signal }))
  const provider = operatorApi({ url, apiKey: 'the key' })({ channel: 'push', mode: 'batch', max: 1, concurrency: 1 })
  t.after(() => provider.close?.())
  await provider.check?.()
  assert.deepEqual(asked, [
    '/api/reconciliation?tenant=1',
    '/api/messages/status?tenant=1&after=c&limit=1000',
    '/api/channels/push/batch?tenant=1',
  ])
})
