// The witness: a separate process that is never killed and appends every call of a provider to a file. Unlike our
// tables with their unique keys, the file shows messages that were delivered twice.
//
// A call is one line {"messages":n,"pid":p} and n lines {"ref","id","brand","user"}. The witness appends the n lines with the
// number of the call and the caller's process in one write, and then answers 'ok'.
// argv: the file.

import { openSync, writeSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'

const file = openSync(process.argv[2] as string, 'a')
let calls = 0

const server = createServer({ noDelay: true }, (socket) => {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    rest += chunk
    for (;;) {
      const headEnd = rest.indexOf('\n')
      if (headEnd < 0) return
      const { messages, pid } = JSON.parse(rest.slice(0, headEnd)) as { messages: number; pid: number }
      const lines = rest.slice(headEnd + 1).split('\n')
      // An incomplete call: wait for the rest. A call whose caller died does not count.
      if (lines.length <= messages) return
      const call = ++calls
      const records = lines.slice(0, messages).map((line) => `{"call":${call},"pid":${pid},${line.slice(1)}\n`)
      writeSync(file, records.join(''))
      rest = lines.slice(messages).join('\n')
      socket.write('ok\n')
    }
  })
  // The caller was killed.
  socket.on('error', () => socket.destroy())
})
server.listen(0, '127.0.0.1', () => process.send?.({ ready: { port: (server.address() as AddressInfo).port } }))
process.on('disconnect', () => process.exit(0))
