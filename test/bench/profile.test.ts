import assert from 'node:assert/strict'
import test from 'node:test'
import { selfTimes } from '../../bench/harness/profile.ts'

test('self time is summed by function, without idle time', () => {
  const frame = (functionName: string, url = ''): object => ({ functionName, url, lineNumber: 4 })
  const nodes = [
    { id: 1, callFrame: frame('(idle)') },
    { id: 2, callFrame: frame('claim', 'file:///here/src/subjects/delivery/claim.ts') },
    { id: 3, callFrame: frame('claim', 'file:///here/src/subjects/delivery/claim.ts') },
    { id: 4, callFrame: frame('settle', 'file:///here/src/subjects/delivery/settle.ts') },
  ]
  const profile = { nodes, samples: [1, 2, 3, 4], timeDeltas: [9_000, 2_000, 1_000, 1_000] }
  assert.deepEqual(selfTimes(profile as Parameters<typeof selfTimes>[0]), [
    { where: 'claim  subjects/delivery/claim.ts:5', ms: 3, share: 0.75 },
    { where: 'settle  subjects/delivery/settle.ts:5', ms: 1, share: 0.25 },
  ])
})
