import assert from 'node:assert/strict'
import test from 'node:test'
import { signatureHeaders } from '../../../src/subjects/providers/http/standard-webhooks.ts'

test('a signature follows the Standard Webhooks specification', () => {
  assert.deepEqual(
    signatureHeaders({
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: '{"test": 2432232314}',
      now: 1614265330_999,
    }),
    {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  )
})
