import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { importOptions } from '../support/quick-imports/import-options.ts'

/** Resets a connection while its regular end is on the way. */
const program = `
  import { connect, createServer } from 'node:net'
  import { resetSocket } from '${new URL('../../src/base/runtime/reset-socket.ts', import.meta.url).href}'
  const server = createServer((socket) => {
    socket.on('error', () => {}).end()
    process.nextTick(() => queueMicrotask(() => process.nextTick(() => {
      console.log(socket.writableEnded, socket.writableFinished)
      resetSocket(socket)
    })))
    server.close()
  })
  server.listen(0, () => connect(server.address().port).on('error', () => {}).resume())`

test('a process that resets a connection which is ending already can exit', () => {
  const options = [...importOptions, '--input-type=module', '--eval', program]
  const { status, stdout } = spawnSync(process.execPath, options, {
    encoding: 'utf8',
    timeout: 20_000,
    killSignal: 'SIGKILL',
  })
  assert.deepEqual([stdout, status], ['true false\n', 0])
})
