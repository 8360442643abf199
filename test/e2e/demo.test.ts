import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import test from 'node:test'
import { listenLocally } from '../support/listen-locally.ts'
import { startDemo } from './demo-child.ts'

test('demo --once sends the sample messages, prints their outcomes and removes its files', async (t) => {
  const demo = await startDemo(t, ['--once'])
  const code = await demo.exit
  assert.equal(code, 0, demo.output)
  assert.match(demo.output, /✓ 10 of 10 on-site notifications are in their inboxes/)
  assert.match(
    demo.output,
    /✓ 1 of 1 push for a phone that is offline waits at the push service until the phone is online/,
  )
  assert.match(demo.output, /✓ 6 of 6 pushes are on their devices, each once/)
  assert.match(demo.output, /✓ The phone of the user who has excluded herself stayed silent/)
  assert.match(demo.output, /✓ push +Theo Brandt .* on the Android phone and the laptop/)
  assert.match(demo.output, /… push +Aiko Tanaka .* waits at FCM for the Android phone, which is offline/)
  assert.match(demo.output, /Aiko Tanaka’s Android phone is back online\n.*✓ push +Aiko Tanaka .* on the Android phone/)
  assert.match(demo.output, /✓ 3 of 3 messages to a user who has excluded herself were refused, as expected/)
  assert.match(demo.output, /✓ 1 of 1 unreadable record was refused with its line number/)
  assert.match(demo.output, /Everything arrived as expected\./)
  assert.doesNotMatch(demo.output, new RegExp(String.fromCharCode(27)), 'no colours if the output is not a terminal')
  assert.deepEqual(await demo.leftovers(), [])
})

test('a port in use is an error with a remedy, without a stack trace', async (t) => {
  const { port } = await listenLocally(t, createServer())
  const second = await startDemo(t, ['--port', String(port)])
  assert.equal(await second.exit, 2)
  assert.match(second.output, /port \d+ is in use: choose another with --port/)
  assert.doesNotMatch(second.output, /\n\s+at /)
})
