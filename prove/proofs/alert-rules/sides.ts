// The watched installation: five operators and a platform, each a process of the command with a configuration file of its own, and
// their surroundings: push services, a broker, a source of attributes, a small disk.

import { openSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { listenAt } from '../../../src/base/runtime/local-server.ts'
import { apnsStandIn } from '../../../src/tools/stand-ins/apns.ts'
import { fcmStandIn } from '../../../src/tools/stand-ins/fcm.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { mountSmallDisk } from '../../../test/support/small-disk.ts'
import { admin, enqueue } from '../../harness/http.ts'
import { type Process, startProcess } from '../../harness/process.ts'
import { startRecordBroker } from '../../harness/record-broker.ts'
import { retryUntil } from '../../harness/retry-until.ts'
import { adminKey } from '../../plans.ts'

/** Each fault has a brand of its own, so that it disturbs no other. */
export const brandOf = {
  ordinary: 1,
  pausedService: 2,
  deadDevices: 3,
  excludedUsers: 4,
  refusedKey: 5,
  noText: 6,
  awayAttributes: 7,
  goneOperator: 8,
  pausedLane: 9,
  removedLane: 10,
  shrunkList: 11,
  hungOperator: 12,
  fullDisk: 13,
} as const

export const names = ['main', 'changing', 'gone', 'hung', 'full', 'platform'] as const
export type Name = (typeof names)[number]

/** The parts of the configurations that faults change. */
export interface Changes {
  keyOfRefused: string
  expiresAt: string | undefined
  content: object | undefined
  withoutLane: number | undefined
  unknownSetting: boolean
}

export const deadUsers = Array.from({ length: 120 }, (_, n) => `dead ${n}`)
export const listedUsers = 100
const apiKeyOf = (brand: number): string => `the-key-of-brand-${brand}`
const keyOf = (brand: number) => ({ name: `brand ${brand}`, key: apiKeyOf(brand), brands: [brand] })

export async function startSides(folder: string, signal: AbortSignal) {
  const file = (name: string): string => join(folder, name)
  const fcm = await fcmStandIn({ tls: false })
  const apns = await apnsStandIn({ tls: false })
  const broker = await startRecordBroker('amqp')
  const disk = mountSmallDisk(1_200)
  const attributes = { away: false }
  const attributeServer = await listen(attributesOf(attributes))
  const canary = file('canary.prom')
  const nodeServer = await listen(
    createServer(async (_, response) => response.end(await readFile(canary, 'utf8').catch(() => ''))),
  )
  const changes: Changes = {
    keyOfRefused: apiKeyOf(brandOf.refusedKey),
    expiresAt: undefined,
    content: undefined,
    withoutLane: undefined,
    unknownSetting: false,
  }
  writeFileSync(file('fcm.json'), JSON.stringify(fcm.credentials))
  writeFileSync(file('apns.p8'), apns.credentials.key)
  const users = createUserFiles(folder)
  users.write()

  const ports = new Map<Name, { readonly main: number; readonly admin: number }>()
  for (const name of names) ports.set(name, { main: await freePort(), admin: await freePort() })
  const portsOf = (name: Name) => ports.get(name) as { readonly main: number; readonly admin: number }
  const urlOf = (name: Name): string => `http://127.0.0.1:${portsOf(name).main}`
  const adminOf = (name: Name): string => `http://127.0.0.1:${portsOf(name).admin}`

  const scopes = ['counts', 'read', 'decide', 'attributes', 'reload']
  const sideOf = (name: Name, more: object) => ({
    port: portsOf(name).main,
    admin: { port: portsOf(name).admin },
    store: `sqlite:${name === 'full' ? join(disk.folder, 'operator.db') : file(`${name}.db`)}`,
    ...more,
  })
  const operatorOf = (name: Name, more: object) => ({
    operator: sideOf(name, {
      admin_keys: [{ name: 'office', key: adminKey, scopes: [...scopes, 'devices'] }],
      ...more,
    }),
  })
  const recordingOf = (name: Name, brand: number, more: object = {}) =>
    operatorOf(name, {
      keys: [keyOf(brand)],
      suppression: 'none',
      push: { provider: 'recording', file: file(`${name}.ndjson`) },
      status: {},
      ...more,
    })
  const ofMain = [
    brandOf.ordinary,
    brandOf.pausedService,
    brandOf.deadDevices,
    brandOf.excludedUsers,
    brandOf.refusedKey,
    brandOf.pausedLane,
    brandOf.removedLane,
  ]
  const configurations: Readonly<Record<Name, () => object>> = {
    main: () =>
      operatorOf('main', {
        keys: [...ofMain, brandOf.awayAttributes, brandOf.shrunkList].map((brand) =>
          brand === brandOf.refusedKey ? { ...keyOf(brand), key: changes.keyOfRefused } : keyOf(brand),
        ),
        site: 'inbox',
        status: {},
        attributes: [
          { file: users.main, brands: ofMain },
          { file: users.shrinking, brands: [brandOf.shrunkList] },
          { http: attributeServer.url, fields: ['excluded'], brands: [brandOf.awayAttributes] },
        ],
        push: {
          devices: {
            source: 'registry',
            services: [
              { provider: 'fcm', credentials: 'fcm.json', testing: { base_url: fcm.url } },
              {
                provider: 'apns',
                key: 'apns.p8',
                key_id: apns.credentials.keyId,
                team_id: apns.credentials.teamId,
                topic: apns.topic,
                testing: { base_url: apns.url, sandbox_url: apns.sandboxUrl },
              },
            ],
          },
        },
      }),
    changing: () =>
      recordingOf('changing', brandOf.noText, {
        site: 'inbox',
        keys: [{ ...keyOf(brandOf.noText), ...(changes.expiresAt !== undefined && { expires_at: changes.expiresAt }) }],
        ...(changes.content && { content: changes.content }),
        ...(changes.unknownSetting && { colour: 'blue' }),
      }),
    gone: () => recordingOf('gone', brandOf.goneOperator),
    hung: () => recordingOf('hung', brandOf.hungOperator),
    full: () => recordingOf('full', brandOf.fullDisk),
    platform: () => ({
      platform: sideOf('platform', {
        keys: [{ name: 'crm', key: adminKey, scopes: [...scopes, 'enqueue'] }],
        lanes: lanes().filter(({ brand }) => brand !== changes.withoutLane),
        intake: [{ from: { amqp: broker.address } }],
        reconciliation: [
          {
            brand: brandOf.ordinary,
            url: urlOf('main'),
            api_key: apiKeyOf(brandOf.ordinary),
            fields: ['excluded'],
            every: '10min',
          },
        ],
      }),
    }),
  }
  const lanes = () => {
    const lane = (brand: number, operator: Name, more: object = {}) => ({
      brand,
      channel: 'push',
      to: { provider: 'operator-api', url: urlOf(operator), api_key: apiKeyOf(brand) },
      retry: { first: '1s', most: '10s' },
      ...more,
    })
    return [
      ...[...ofMain, brandOf.awayAttributes, brandOf.shrunkList].map((brand) => lane(brand, 'main')),
      lane(brandOf.ordinary, 'main', { channel: 'site' }),
      lane(brandOf.noText, 'changing', { channel: 'site' }),
      lane(brandOf.goneOperator, 'gone', { status: { poll: '5s' } }),
    ]
  }

  const running = new Map<Name, Process>()
  const configOf = (name: Name): string => file(`${name}.json`)
  const write = (name: Name): void => writeFileSync(configOf(name), JSON.stringify(configurations[name]()))
  async function start(name: Name): Promise<void> {
    write(name)
    const side = name === 'platform' ? 'platform' : 'operator'
    const log = openSync(file(`${name}.log`), 'a')
    const program = new URL('../../../src/tools/cli/main.ts', import.meta.url)
    const process = startProcess(program, { args: [side, '--config', configOf(name)], output: log })
    running.set(name, process)
    void process.ended.then(() => {
      if (running.get(name) === process) running.delete(name)
    })
    const ready = retryUntil(async () => {
      const { status } = await fetch(`${adminOf(name)}/readyz`)
      if (status !== 200) throw new Error(`${name} is not ready`)
    }, signal)
    const ended = process.ended.then(async () => {
      throw new Error(`${name} ended: ${(await readFile(file(`${name}.log`), 'utf8')).slice(-2_000)}`)
    })
    await Promise.race([ready, ended])
  }

  let last = 0
  /** The parts that faults and their remedies use. */
  const ends: { apns?: () => void; run?: string; dead: readonly string[] } = { dead: [] }
  return {
    ends,
    fcm,
    apns,
    broker,
    disk,
    attributes,
    changes,
    users,
    canary,
    urlOf,
    adminOf,
    configOf,
    apiKeyOf,
    start,
    node: nodeServer.url.slice('http://'.length),
    /** The addresses of /metrics. */
    addresses: names.map((name) => `127.0.0.1:${portsOf(name).admin}`),
    addressOf: (name: Name): string => `127.0.0.1:${portsOf(name).admin}`,
    signal(name: Name, what: NodeJS.Signals): void {
      running.get(name)?.signal(what)
    },
    /** Writes the configuration with the current changes, and reloads it. @returns the status */
    async reload(name: Name): Promise<number> {
      write(name)
      const answer = await fetch(`${adminOf(name)}/admin/reload`, {
        method: 'POST',
        headers: { 'x-api-key': adminKey },
      })
      await answer.arrayBuffer()
      return answer.status
    },
    /** Links a device of each user. @returns their tokens */
    async link(
      brand: number,
      users: readonly string[],
      provider: 'firebase' | 'apns' = 'firebase',
    ): Promise<readonly string[]> {
      const tokens = users.map(() => (provider === 'apns' ? apns.device() : fcm.device()))
      const records = users.map((user, i) => ({
        brand: String(brand),
        user_id: user,
        tokens: [{ token: tokens[i], provider }],
      }))
      await admin(adminOf('main'), '/admin/devices/link', records)
      return tokens
    },
    importCrm: (brand: number, csv: string) =>
      admin(adminOf('platform'), `/admin/attributes/${brand}`, csv, 'text/csv'),
    /** Sends one message to each of these users. */
    async send(brand: number, users: readonly string[], channel: 'push' | 'site' = 'push'): Promise<void> {
      const lines = users.map((user) => `${recordOf(++last, brand, user)}\n`)
      await enqueue(adminOf('platform'), channel, lines.join(''))
    },
    publish: (brand: number, user: string) =>
      broker.publish('activities', [{ channel: 'push', text: recordOf(++last, brand, user) }]),
    /** Sends a message to an operator, as a platform does. @returns the status */
    async call(name: Name, brand: number, key = apiKeyOf(brand)): Promise<number> {
      const answer = await fetch(`${urlOf(name)}/channels/push/single`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: recordOf(++last, brand, 'user'),
        signal: AbortSignal.timeout(10_000),
      })
      await answer.arrayBuffer()
      return answer.status
    },
    async stop(): Promise<void> {
      for (const [, process] of running) process.signal('SIGKILL')
      await Promise.all([...running.values()].map(({ ended }) => ended))
      for (const server of [attributeServer, nodeServer]) server.close()
      await Promise.all([fcm.close(), apns.close(), broker.stop()])
      disk.remove()
    },
  }
}

export type Sides = Awaited<ReturnType<typeof startSides>>

const recordOf = (id: number, brand: number, user: string): string =>
  JSON.stringify({
    activity: { id, brand_id: brand, user_id: user, trigger_hash: 'hash' },
    title: 'Hello',
    body: 'There',
  })

/** The files of attributes of the operator `main`. */
function createUserFiles(folder: string) {
  const files = { main: join(folder, 'users.csv'), shrinking: join(folder, 'shrinking.csv') }
  return {
    ...files,
    /** @param excluded whether the operator excludes the compared user @param listed how many users the list of the brand with a shrinking list has */
    write({
      excluded = false,
      listed = listedUsers,
    }: {
      readonly excluded?: boolean
      readonly listed?: number
    } = {}): void {
      const rows = Object.values(brandOf).map((brand) => `someone,${brand},false`)
      rows.push(`${comparedUser},${brandOf.ordinary},${excluded}`)
      const refused = excludedUsers.map((user) => `${user},${brandOf.excludedUsers},true`)
      const header = 'user_id,brand,excluded'
      writeFileSync(files.main, `${[header, ...rows, ...refused].join('\n')}\n`)
      const list = Array.from({ length: listed }, (_, n) => `user ${n},${brandOf.shrunkList},true`)
      writeFileSync(files.shrinking, `${[header, ...list].join('\n')}\n`)
    },
    confirm: (): void => writeFileSync(`${files.shrinking}.confirmed`, ''),
  }
}

/** The user whom only the operator excludes. */
export const comparedUser = 'compared'
export const excludedUsers = Array.from({ length: 150 }, (_, n) => `excluded ${n}`)

/** An endpoint of attributes, as docs/attributes.md describes it: nobody is excluded. */
function attributesOf(state: { readonly away: boolean }): Server {
  return createServer((request, response) => {
    request.resume()
    response.writeHead(state.away ? 503 : 200, { 'content-type': 'application/json' }).end('{"excluded":[]}')
  })
}

async function listen(server: Server): Promise<{ readonly url: string; close(): void }> {
  return {
    url: await listenAt(server),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
