import assert from 'node:assert/strict'
import test from 'node:test'
import { type FatalCall, type Judgement, judgeFatals } from '../../src/base/queue/lane/judge-fatals.ts'

const call = (over: Partial<FatalCall>): FatalCall => ({
  kind: 'batch',
  messages: 1,
  blame: 'call',
  hasRetryAfter: false,
  repeated: false,
  unclearFatals: 0,
  workedRecently: false,
  ...over,
})

for (const [title, over, expected] of [
  ['a fatal batch with blame on the provider is an outage', { messages: 500, blame: 'provider' }, 'hold'],
  [
    'a repeated fatal batch with blame on the provider is an outage',
    { messages: 500, blame: 'provider', repeated: true },
    'hold',
  ],
  ['a refused batch is split to find the guilty message', { messages: 500 }, 'split'],
  ['a refused batch with Retry-After holds the lane', { messages: 500, hasRetryAfter: true }, 'hold'],
  ['one message, fatal alone for the first time, waits: the cause is unclear', {}, 'wait'],
  ['the fifth message in a row that is fatal alone is an outage', { unclearFatals: 4 }, 'hold'],
  ['one message, fatal alone with Retry-After, holds the lane', { hasRetryAfter: true }, 'hold'],
  ['one message, fatal alone with 503, holds the lane', { blame: 'provider' }, 'hold'],
  ['one message, fatal alone again after another delivery, is guilty', { repeated: true }, 'guilty'],
  ['one message, fatal alone again with Retry-After, is guilty', { repeated: true, hasRetryAfter: true }, 'guilty'],
  ['one message, fatal alone again with 503, is guilty', { repeated: true, blame: 'provider' }, 'guilty'],
  ['a probe never counts an attempt', { kind: 'probe', repeated: true }, 'hold'],
  ['a split that ends with one refused message is an outage', { kind: 'split' }, 'hold'],
  [
    'a split that ends with one refused message in a lane that worked recently: the message waits',
    { kind: 'split', workedRecently: true },
    'wait',
  ],
  [
    'a split that ends with a repeated fatal message: the message is guilty',
    { kind: 'split', repeated: true },
    'guilty',
  ],
] as const satisfies readonly (readonly [string, Partial<FatalCall>, Judgement])[]) {
  test(`row 53: ${title}`, () => assert.equal(judgeFatals(call(over)), expected))
}
