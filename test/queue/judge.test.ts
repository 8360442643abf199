import assert from 'node:assert/strict'
import test from 'node:test'
import { type Judgement, judge, type Unanswered } from '../../src/queue/judge.ts'

const call = (over: Partial<Unanswered>): Unanswered => ({
  kind: 'batch',
  messages: 1,
  blame: 'call',
  asked: false,
  repeated: false,
  doubts: 0,
  worksOtherwise: false,
  ...over,
})

for (const [says, over, expected] of [
  ['a batch that the provider is to blame for is an outage', { messages: 500, blame: 'provider' }, 'hold'],
  ['and again: probes work, batches do not', { messages: 500, blame: 'provider', repeated: true }, 'hold'],
  ['a batch that is refused is searched for the guilty message', { messages: 500 }, 'split'],
  ['unless the other side asks for time', { messages: 500, asked: true }, 'hold'],
  ['one message alone, for the first time: nobody can tell', {}, 'wait'],
  ['the fifth message alone in a row: an outage', { doubts: 4 }, 'hold'],
  ['one message alone, with Retry-After', { asked: true }, 'hold'],
  ['one message alone, answered 503', { blame: 'provider' }, 'hold'],
  ['one message alone again, and another got through since: guilty', { repeated: true }, 'guilty'],
  ['the same with Retry-After', { repeated: true, asked: true }, 'guilty'],
  ['the same answered 503', { repeated: true, blame: 'provider' }, 'guilty'],
  ['a probe never counts an attempt', { kind: 'probe', repeated: true }, 'hold'],
  ['a search whose whole way was refused: an outage', { kind: 'search' }, 'hold'],
  ['a search in a lane that worked within the minute', { kind: 'search', worksOtherwise: true }, 'wait'],
  ['a search that found the guilty message', { kind: 'search', repeated: true }, 'guilty'],
] as const satisfies readonly (readonly [string, Partial<Unanswered>, Judgement])[]) {
  test(`row 53: ${says}`, () => assert.equal(judge(call(over)), expected))
}
