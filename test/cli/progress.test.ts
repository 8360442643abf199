import assert from 'node:assert/strict'
import test from 'node:test'
import { createProgress } from '../../src/tools/cli/progress.ts'

test('on a terminal one line is redrawn, at most ten times a second', () => {
  const { written, to } = recorder(true)
  let now = 1_000
  const progress = createProgress(to, () => now)
  progress.show('sending', 1, 4, 'one')
  progress.show('sending', 2, 4, 'two')
  now += 100
  progress.show('sending', 3, 4, 'three')
  progress.show('sending', 4, 4, 'four')
  assert.equal(written.length, 3)
  assert.ok(written.every((text) => text.startsWith('\r\x1b[K') && !text.includes('\n')))
  assert.match(written[1] ?? '', /█{22,23}░{7,8} {2}75 % three/)
  progress.print('a separate line')
  assert.deepEqual(written.slice(3), ['\r\x1b[K', 'a separate line\n'])
})

test('without a terminal a plain line is printed every few seconds and at the end', () => {
  const { written, to } = recorder(false)
  let now = 1_000
  const progress = createProgress(to, () => now)
  for (let done = 1; done <= 100; done++) {
    now += 100
    progress.show('sending', done, 100, `${done} records`)
  }
  progress.show('waiting', 1, 1, 'done')
  assert.deepEqual(written, ['sending:  50 % 50 records\n', 'sending: 100 % 100 records\n', 'waiting: 100 % done\n'])
})

test('an unknown length has no percentage', () => {
  const { written, to } = recorder(true)
  createProgress(to).show('sending', 5, undefined, '5 records')
  assert.doesNotMatch(written.join(''), /%/)
})

function recorder(terminal: boolean): { written: string[]; to: NodeJS.WriteStream } {
  const written: string[] = []
  const to = { isTTY: terminal, columns: 100, write: (text: string) => written.push(text) > 0 }
  return { written, to: to as unknown as NodeJS.WriteStream }
}
