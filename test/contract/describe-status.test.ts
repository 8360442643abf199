import assert from 'node:assert/strict'
import test from 'node:test'
import { readBatchAnswer, readSingleAnswer } from '../../src/contract/answer.ts'
import { readPlatformAnswer } from '../../src/contract/device-answer.ts'

test('an answer with a redirect names its address, without the query', () => {
  const answer = { status: 307, body: '', location: 'https://www.operator.example/api?token=canary#x' }
  const described = /answered (the batch with )?307, a redirect to https:\/\/www\.operator\.example\/api(,|$)/
  const [batch] = readBatchAnswer({ channel: 'push', ids: ['1'], ...answer }).outcomes
  for (const outcome of [readSingleAnswer({ channel: 'push', ...answer }), batch, readPlatformAnswer(answer)])
    assert.match((outcome as { error: string }).error, described)
})
