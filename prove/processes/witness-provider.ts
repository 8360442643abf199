// The provider under test: it hands each call to the witness in one write and waits for its word. What makes the counting exact:
//
// - All connections are open before the first call, so a call is written in the turn in which it is made.
// - A call is small enough for the socket's buffer, so that the write has put all of it into the kernel when it returns:
//   from then on it arrives, whatever becomes of this process.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Message, Provider, Result } from '../../src/providers/provider.ts'
import { arrived, holdAt } from './strike.ts'

const connections = 32
const idle = await Promise.all(Array.from({ length: connections }, () => open(Number(process.env.PROVE_WITNESS))))

export const provider: Provider = {
  name: 'witness',
  max: 100,
  async send(messages) {
    const socket = idle.pop()
    if (!socket) return giveUp(`more than ${connections} calls at a time: give the witness's provider more connections`)
    const answered = once(socket, 'data')
    socket.write(callText(messages))
    if (socket.writableLength > 0) giveUp('the call did not fit the socket: make max smaller')
    arrived(messages.map(({ ref }) => ref))
    await answered
    await holdAt('between-acceptance-and-settle')
    idle.push(socket)
    return messages.map(({ ref }): Result => ({ category: 'successful', ref, rule: 'the witness wrote it down' }))
  },
}

function callText(messages: readonly Message[]): string {
  const lines = messages.map(({ ref, attempt, id, brand, userId }) =>
    JSON.stringify({ ref, attempt, id, brand, user: userId }),
  )
  return `${JSON.stringify({ messages: messages.length, pid: process.pid })}\n${lines.join('\n')}\n`
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket.setEncoding('utf8')
}

/** The counting would be wrong, so the proof must not go on; thrown, it would be one fatal among others. */
function giveUp(why: string): never {
  console.error(why)
  process.exit(70)
}
