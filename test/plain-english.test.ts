// Keeps rejected sentences out of the code and the documentation, because readers could not understand them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

/** A distinctive part of each rejected sentence. */
const rejected = [
  'boarded a flight',
  'lists its messages by their seats',
  'whether such keys name a message',
  'says of its identifier: null is as its seat',
  'seen before; the others are ours',
  'So long ago is of late',
  'Jitter could make it nothing',
  'gets to answer after its signal said',
  'What a service gets of a call',
  'would find it resting in the end',
  'Whose an item is says',
  'that has only a number is not waited for',
  'How the password is shown',
  'Of that user.',
  'taken up from there one by one',
  'more than one believes',
  'the world that they are from',
  'were removed lately: none is until',
  'has not told the devices in time',
  'that only wait for their turn cost far more',
  'who has it, and its seat there',
  'the triggering`',
  'the right one comes along',
  'what was taken is not taken twice',
  'can be one of several, a word is short for',
  'on their way to us at once',
  'Which of Apple’s worlds',
  "Which of Apple's worlds",
  'while they are at most so much of',
  'as many messages under way as they take at a time',
  'being unable to settle are one event',
  'is believed only after the credential has had',
  'before the credential has had an accepted send',
  'unless their greatest unlink is as late',
  'killed with its hands full',
  'was not decided about, or was',
  'Says what became of messages',
  'that a source tells wrongly',
  'its other side was away',
  'Not done within the budget',
  'body* became the flight',
]

test('no file of src, docs and examples contains a rejected sentence', () => {
  const root = join(import.meta.dirname, '..')
  const files = globSync('{README.md,{src,docs,examples}/**/*.{ts,js,html,css,md,yaml,json}}', { cwd: root })
  assert.ok(files.length > 300, `${files.length} files`)
  const found = files.flatMap((file) => {
    // A comment may break a sentence into several lines.
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/\s+(?:\/\/|\*)?\s*/g, ' ')
    return rejected.flatMap((sentence) => (text.includes(sentence) ? [`${file}: ${sentence}`] : []))
  })
  assert.deepEqual(found, [])
})
