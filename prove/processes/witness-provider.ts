// The provider of a proof: it sends each call to the witness in one write and waits for the answer. The counts are exact because:
//
// - All connections are open before the first call, so a call is written in the turn in which it starts.
// - A call fits into the socket's buffer, so the kernel has all of it when the write returns. It arrives even if this process
//   dies.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ContentMapping, defaultContentMapping, type PushContent } from '../../src/contract/content.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import type { DeviceSource } from '../../src/subjects/devices/device-source.ts'
import type { Message, Provider, Result } from '../../src/subjects/providers/provider.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { markArrived, passPoint } from './strike.ts'

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

/** The witness as a push service: one message per call. */
export const service: PushService = {
  name: 'witness',
  concurrency: connections,
  reaches: () => true,
  async send({ ref, device, content }) {
    await call([{ ref, id: readId(content), brand: device.brand, userId: device.userId }])
    return { category: 'successful', ref, rule }
  },
}

/** A source with one device for every user. */
export const oneDevicePerUser: DeviceSource = {
  name: 'everybody',
  findDevices: async (brand, users) => new Map(users.map((userId) => [userId, [deviceOf(brand, userId)]])),
  findHolders: async () => new Map(),
}

/** Maps the activity to the field that the service reads. */
export const content: ContentMapping = { ...defaultContentMapping, data: '/activity' }

const rule = 'recorded by the witness'

const deviceOf = (brand: string, userId: string): Device => ({
  brand,
  userId,
  kind: 'http:witness',
  token: `device of ${userId} of brand ${brand}`,
  linkedAt: '2026-01-01T00:00:00Z',
})

/** Reads the id as text, because it exceeds the precision of a double. */
function readId({ data = '' }: PushContent): string {
  return /"id":(\d+)/.exec(data)?.[1] ?? exitWith(`there is no activity in ${data}`)
}

async function call(messages: readonly Pick<Message, 'ref' | 'id' | 'brand' | 'userId'>[]): Promise<void> {
  const socket = idle.pop()
  if (!socket)
    return exitWith(`more than ${connections} concurrent calls: raise the connections of the witness's provider`)
  const answered = once(socket, 'data')
  const lines = messages.map(({ ref, id, brand, userId }) => JSON.stringify({ ref, id, brand, user: userId }))
  socket.write(`${JSON.stringify({ messages: messages.length, pid: process.pid })}\n${lines.join('\n')}\n`)
  if (socket.writableLength > 0) exitWith('the call did not fit the socket: make max smaller')
  markArrived(messages.map(({ ref }) => ref))
  await answered
  await passPoint('between-acceptance-and-settle')
  idle.push(socket)
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket.setEncoding('utf8')
}

/** Ends the process, because the counts would be wrong. An exception would only be a fatal outcome. */
function exitWith(why: string): never {
  console.error(why)
  process.exit(70)
}
