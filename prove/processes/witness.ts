// The witness (design §9): a process of its own, never killed, that appends every call a provider received to a file.
// Our own tables have unique keys and cannot show a double; this file can.
//
// A call comes as one line {"messages":n,"pid":p} and n lines {"ref","id","brand","user"}; each of the n is
// written down with the call's number and the caller's process, in one write, and only then is the call answered 'ok'.
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
      // Cut short by its caller's death: it was not made.
      if (lines.length <= messages) return
      const call = ++calls
      const noted = lines.slice(0, messages).map((line) => `{"call":${call},"pid":${pid},${line.slice(1)}\n`)
      writeSync(file, noted.join(''))
      rest = lines.slice(messages).join('\n')
      socket.write('ok\n')
    }
  })
  // Its caller was killed.
  socket.on('error', () => socket.destroy())
})
server.listen(0, '127.0.0.1', () => process.send?.({ ready: { port: (server.address() as AddressInfo).port } }))
process.on('disconnect', () => process.exit(0))
