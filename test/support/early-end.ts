// For `node --import`, in the test processes of `npm test`: a process that ends before its last test, for example by process.exit(),
// fails its file. The test runner would take the file as passed, and its further tests would be missing without a word.

import { after } from 'node:test'

let isFinished = false
after(() => {
  isFinished = true
})
process.on('exit', () => {
  if (isFinished) return
  console.error('This process ended before its last test.')
  process.exitCode ||= 1
})
