// A shadow operation in front of the plain operator or a mutant of it, with the same users as the plain operator.

import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileSource } from '../../src/subjects/attributes/file.ts'
import type { DeviceSource } from '../../src/subjects/devices/device-source.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { type Shadow, startShadow } from '../../src/tools/shadow/start-shadow.ts'
import { key, type Mutation, startPlainOperator, users } from '../checker/plain-operator.ts'

export const attributes = `user_id,blocked,excluded,consent_push_notification
${users.normal},false,false,true
${users.blocked},true,false,false
${users.withoutDevice},false,false,true
user-7,false,true,false
user-8,true,false,false
user-9,true,false,false
`
/** Each user but one has a device. */
export const devices: DeviceSource = {
  name: 'devices of the test',
  findDevices: async (brand, userIds) =>
    new Map(
      userIds
        .filter((user) => user !== users.withoutDevice)
        .map((user) => [user, [{ brand, userId: user, token: `token-of-${user}`, kind: 'fcm_token' as const }]]),
    ) as never,
  findHolders: async () => new Map(),
  unlink: () => {
    throw new Error('a device was unlinked')
  },
  markProven: () => {
    throw new Error('a device was marked')
  },
}

export const service: PushService = {
  name: 'service of the test',
  concurrency: 10,
  reaches: () => true,
  send: async () => {
    throw new Error('a push was sent')
  },
}

export async function shadowOf(t: TestContext, mutation?: Mutation): Promise<Shadow> {
  const operator = await startPlainOperator(mutation)
  const file = join(tmpdir(), `bellwire-shadow-test-${process.pid}-${Math.random()}.csv`)
  await writeFile(file, attributes)
  t.after(async () => {
    operator.stop()
    await rm(file)
  })
  return startShadow({
    operator: operator.url,
    host: '127.0.0.1',
    port: 0,
    options: {
      store: 'sqlite:never-opened.db',
      keys: [{ name: 'platform', key, brands: ['1'] }],
      push: { devices: { source: devices, services: [service] } },
      site: 'inbox',
      attributes: await fileSource(file, { brand: '1' }),
    },
  })
}
