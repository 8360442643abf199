// The provider under test: it hands each call to the witness in one write and waits for its word. What makes the counting exact:
//
// - All connections are open before the first call, so a call is written in the turn in which it is made.
// - A call is small enough for the socket's buffer, so that the write has put all of it into the kernel when it returns:
//   from then on it arrives, whatever becomes of this process.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ContentMapping, defaultContentMapping, type PushContent } from '../../src/contract/content.ts'
import type { Device } from '../../src/devices/device.ts'
import type { DeviceSource } from '../../src/devices/device-source.ts'
import type { Message, Provider, Result } from '../../src/providers/provider.ts'
import type { PushService } from '../../src/providers/push-service.ts'
import { arrived, holdAt } from './strike.ts'

const connections = 32
const idle = await Promise.all(Array.from({ length: connections }, () => open(Number(process.env.PROVE_WITNESS))))

export const provider: Provider = {
  name: 'witness',
  max: 100,
  async send(messages) {
    await call(messages)
    return messages.map(({ ref }): Result => ({ category: 'successful', ref, rule }))
  },
}

/** The same as a push service: one message in a call, each when its turn has come. */
export const service: PushService = {
  name: 'witness',
  concurrency: connections,
  reaches: () => true,
  async send({ ref, device, content }) {
    await call([{ ref, id: idIn(content), brand: device.brand, userId: device.userId }])
    return { category: 'successful', ref, rule }
  },
}

/** Everybody has one device. */
export const everybodysDevice: DeviceSource = {
  name: 'everybody',
  of: async (brand, users) => new Map(users.map((userId) => [userId, [deviceOf(brand, userId)]])),
  holders: async () => new Map(),
}

/** Where the service finds the activity. */
export const content: ContentMapping = { ...defaultContentMapping, data: '/activity' }

const rule = 'the witness wrote it down'

const deviceOf = (brand: string, userId: string): Device => ({
  brand,
  userId,
  kind: 'http:witness',
  token: `device of ${userId} of brand ${brand}`,
  linkedAt: '2026-01-01T00:00:00Z',
})

/** Larger than a double can hold, so it is read as text. */
function idIn({ data = '' }: PushContent): string {
  return /"id":(\d+)/.exec(data)?.[1] ?? giveUp(`there is no activity in ${data}`)
}

async function call(messages: readonly Pick<Message, 'ref' | 'id' | 'brand' | 'userId'>[]): Promise<void> {
  const socket = idle.pop()
  if (!socket) return giveUp(`more than ${connections} calls at a time: give the witness's provider more connections`)
  const answered = once(socket, 'data')
  const lines = messages.map(({ ref, id, brand, userId }) => JSON.stringify({ ref, id, brand, user: userId }))
  socket.write(`${JSON.stringify({ messages: messages.length, pid: process.pid })}\n${lines.join('\n')}\n`)
  if (socket.writableLength > 0) giveUp('the call did not fit the socket: make max smaller')
  arrived(messages.map(({ ref }) => ref))
  await answered
  await holdAt('between-acceptance-and-settle')
  idle.push(socket)
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
