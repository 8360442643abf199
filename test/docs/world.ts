// The installation that the pages speak of: both sides from examples/, with the messages, users, files and variables of each page.

import assert from 'node:assert/strict'
import { appendFile, cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { type Answer, get, post, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { read, root } from './blocks.ts'
import { openShell, type Shell } from './shell.ts'

export interface World {
  readonly shell: Shell
  /** Called with the name of a page before its blocks, and with each block. */
  prepare(page: string): Promise<void>
}

export async function openWorld(t: TestContext): Promise<World> {
  const folder = await temporary(t)
  const ports = new Map<number, number>()
  for (const printed of [7001, 7101, 7002, 7102]) ports.set(printed, await freePort())
  await cp(join(root, 'examples'), join(folder, 'examples'), { recursive: true })
  const example = read('examples/bellwire.yaml')
    .replaceAll(/\b7[01]0[12]\b/g, (printed) => String(ports.get(Number(printed))))
    .replace('\noperator:\n', '\noperator:\n  status: {polling: true}\n')
    .replace(
      '\n    - name: crm',
      '\n    - {name: operator, key: example-links-key, scopes: [devices], brands: [1]}\n    - {name: backup, key: example-backup-key, scopes: [backup]}\n    - {name: keys, key: example-keys-key-1, scopes: [keys, enqueue, counts]}\n    - name: crm',
    )
    .replace('{provider: recording, file: data/pushed.ndjson}', '{module: ./push.mjs}')
    .replaceAll(/^( *)(to: {provider: operator-api, .*)$/gm, '$1$2\n$1status: {poll: 1s}')
  for (const place of [folder, join(folder, 'examples')]) {
    await writeFile(join(place, 'bellwire.yaml'), example)
    await writeFile(join(place, 'push.mjs'), pushProvider)
  }
  for (const file of ['users.csv', 'activities.ndjson']) await cp(join(root, 'examples', file), join(folder, file))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/bellwire'))
  const shell = await openShell(t, folder, ports)
  for (const side of ['operator', 'platform']) {
    const { failed } = await shell.run(`bellwire ${side} --config examples/bellwire.yaml`)
    assert.equal(failed, '')
  }
  return {
    shell,
    async prepare(text) {
      const name = Object.keys(preparations).find((each) => text.startsWith(each))
      if (name === undefined && !text.endsWith('.md')) return
      const before = { operator: url(shell, 7001), admin: url(shell, 7101) }
      await shell.reset()
      for (const [printed, here] of ports) shell.replaced.set(`127.0.0.1:${printed}`, `127.0.0.1:${here}`)
      await preparations[name ?? '']?.(shell, before)
    },
  }
}

/** The keys of examples/bellwire.yaml. */
const keys = {
  send: 'example-operator-key-1',
  operator: 'example-operator-admin-key',
  tokens: 'example-operator-tokens-key',
  crm: 'example-platform-key-1',
  platform: 'example-platform-key-2',
}

/** Refuses one title. */
const pushProvider = `
  const accepted = { category: 'successful', rule: 'accepted' }
  const refused = { category: 'failed', reason: 'rejected', rule: 'refused', error: 'the provider refused the message' }
  const send = (messages) => messages.map(({ ref, text }) => (JSON.parse(text).title === 'Refused' ? refused : { ...accepted, ref }))
  export const provider = { name: 'push', max: 1000, send: async (messages) => send(messages) }
`

const preparations: Readonly<Record<string, (shell: Shell, before: Addresses) => Promise<void>>> = {
  async 'docs/devices.md'(shell, { operator, admin }) {
    // The operator of the stand-ins, which push.md has started.
    const token = `f1${'a'.repeat(150)}`
    shell.env.OPERATOR = operator
    shell.env.ADMIN = admin
    shell.env.KEY = 'stand-ins-service-key-1'
    shell.env.BELLWIRE_KEY = 'stand-ins-service-key-1'
    shell.env.BELLWIRE_URL = admin
    shell.env.PLATFORM = url(shell, 7002)
    shell.env.OPERATOR_KEY = 'example-links-key'
    shell.replaced.set('https://push.example', admin)
    shell.replaced.set('f1…', token)
    await writeFile(join(shell.folder, 'tokens.csv'), `user_id,token\n1003,${token}\n`)
  },

  async 'docs/from-own-api.md'(shell) {
    shell.replaced.set('/etc/bellwire.yaml', 'bellwire.yaml')
    shell.replaced.set('127.0.0.1:8080', url(shell, 7001).slice('http://'.length))
    shell.replaced.set('my-operator-key', keys.send)
  },

  async 'docs/go-live.md'(shell) {
    shell.replaced.set('/etc/bellwire.yaml', 'bellwire.yaml')
    shell.env.BELLWIRE_OPERATOR_PUBLIC_URL = 'https://push.operator.example/api'
  },

  async 'docs/inbox.md'(shell) {
    const activity = { id: 4711, brand_id: 1, user_id: '1003', activity_id: 5, action_id: 1, trigger_hash: 'h' }
    const message = { activity, title: 'Welcome', body: 'Hello', url: '/bonus' }
    const sent = await ok(post(`${url(shell, 7001)}/channels/site/single`, message, keys.send))
    shell.env.OPERATOR = url(shell, 7001)
    shell.env.USER_TOKEN = await tokenOf(shell, '1003')
    shell.replaced.set('"0190…"', `"${sent.body.site_notification_id}"`)
  },

  async 'docs/push.md'(shell) {
    shell.replaced.set('wait=10', 'wait=0')
  },

  async 'docs/reconciliation.md'(shell) {
    shell.cwd = join(shell.folder, 'crm')
    shell.env.BELLWIRE_CONFIG = join(shell.folder, 'bellwire.yaml')
    await mkdir(shell.cwd)
    await writeFile(join(shell.cwd, 'users.csv'), blockOf('docs/reconciliation.md', 'csv'))
    // A user whose change is too recent to judge, and one whom only the operator has blocked.
    const changed = { user_id: '1005', blocked: true }
    await ok(
      post(`${url(shell, 7102)}/admin/attributes/1`, JSON.stringify(changed), keys.platform, {
        'content-type': 'application/x-ndjson',
      }),
    )
    await appendFile(join(shell.folder, 'examples/users.csv'), '1,1004,true,false,true,true,true\n')
  },

  async 'docs/people.md'(shell) {
    shell.replaced.set('/backups/', `${shell.folder}/`)
  },

  async 'docs/running.md'(shell) {
    shell.replaced.set('BELLWIRE_KEY=…', 'BELLWIRE_KEY=example-backup-key')
    shell.replaced.set('/backups/', `${shell.folder}/`)
  },

  async 'docs/start.md'(shell) {
    shell.cwd = join(shell.folder, 'first')
    await mkdir(join(shell.cwd, 'node_modules'), { recursive: true })
    await symlink(root, join(shell.cwd, 'node_modules/bellwire'))
    await writeFile(join(shell.cwd, 'bellwire.yaml'), blockOf('docs/start.md', 'yaml'))
  },

  async 'npx bellwire platform'(shell, { operator }) {
    shell.cwd = join(shell.folder, 'first')
    const [, , block = ''] = read('docs/start.md').split('```yaml\n')
    const file = block.slice(0, block.indexOf('```')).replaceAll('http://127.0.0.1:7001', operator)
    await writeFile(join(shell.cwd, 'platform.yaml'), file)
  },

  async 'docs/lanes.md'(shell) {
    for (const [id, user_id, activity_id, action_id] of [
      [41, '1002', 7, 9],
      [42, '1001', 7, 9],
      [43, '1001', 10, 1],
    ] as const) {
      const activity = { id, brand_id: 1, user_id, activity_id, action_id, trigger_hash: 'h' }
      await ok(post(`${url(shell, 7102)}/admin/activities/push`, { activity, title: 'Refused' }, keys.crm))
    }
    const failed = (): Promise<Answer> => get(`${url(shell, 7102)}/admin/failed`, keys.platform)
    await until(async () => (await failed()).body.items.length >= 3, { withinMs: 20_000, awaited: 'three failures' })
    shell.replaced.set('failed show 17', `failed show ${(await failed()).body.items[0].seq}`)
  },

  async 'docs/status.md'(shell) {
    const clicked = await deliver(shell, { id: 31, activity_id: 7, action_group_id: 8, action_id: 9 })
    const status = { statuses: [{ push_id: clicked, status: 'clicked' }] }
    const headers = { authorization: `Bearer ${await tokenOf(shell, '1001')}` }
    await ok(post(`${url(shell, 7001)}/app/status`, status, undefined, headers))
    await reported(shell, 31, 'clicked')
    const ref = await deliver(shell, { id: 33, activity_id: 7, action_id: 9 })
    shell.replaced.set('019aa7c2-5f3e-7000-9c1b-0242ac120002', ref)
    shell.env.BASE_URL = url(shell, 7001)
    shell.env.TOKEN = await tokenOf(shell, '1001')
    shell.env.KEY = keys.send
  },

  async 'docs/troubleshooting.md'(shell) {
    shell.env.KEY = keys.platform
    shell.replaced.set('/etc/bellwire.yaml', 'bellwire.yaml')
    const ref = await deliver(shell, { id: 32, activity_id: 7, action_id: 9 })
    await reported(shell, 32, 'sent')
    shell.replaced.set('01a20bb0-3f42-7001-afd5-98403f9aeb65', ref)
    shell.replaced.set('operator-api operator.example', `operator-api ${url(shell, 7001).slice('http://'.length)}`)
  },

  async 'docs/test-operator.md'(shell) {
    shell.replaced.set('127.0.0.1:8080', url(shell, 7001).slice('http://'.length))
    shell.replaced.set('my-operator-key', keys.send)
    shell.replaced.set('BELLWIRE_KEY=…', `BELLWIRE_KEY=${keys.send}`)
    shell.replaced.set('https://operator.example/api', url(shell, 7001))
    shell.replaced.set('https://operator.example', url(shell, 7001))
    shell.replaced.set('/run/secrets/operator-key', join(shell.folder, 'key'))
    onlyPlan(shell, 'operator')
    await writeFile(join(shell.folder, 'key'), keys.send)
    await writeFile(join(shell.folder, 'check.yaml'), shell.here(blockOf('docs/test-operator.md', 'yaml')))
  },

  async 'docs/test-platform.md'(shell) {
    shell.env.CRM_KEY = keys.crm
    onlyPlan(shell, 'platform')
  },
}

/** A run takes minutes; test/checker and test/cli run them. The plan needs all options, and is refused if it is too large. */
function onlyPlan({ replaced }: Shell, side: string): void {
  replaced.set(`check ${side}`, `check ${side} --dry-run`)
}

interface Addresses {
  readonly operator: string
  readonly admin: string
}

/** The first block of a language. */
function blockOf(page: string, language: string): string {
  const [, block = ''] = read(page).split(`\`\`\`${language}\n`)
  return block.slice(0, block.indexOf('```'))
}

const url = ({ replaced }: Shell, printed: number): string => `http://${replaced.get(`127.0.0.1:${printed}`)}`

async function ok(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer
  assert.equal(status, 200, text)
  return answer
}

async function tokenOf(shell: Shell, user: string): Promise<string> {
  const body = { brand: '1', user_id: user }
  return (await ok(post(`${url(shell, 7101)}/admin/subscriber-tokens`, body, keys.tokens))).body.token
}

/** Resolves when the platform has this status of a message. */
async function reported(shell: Shell, id: number, status: string): Promise<void> {
  const shown = (): Promise<Answer> => get(`${url(shell, 7102)}/admin/messages?id=${id}`, keys.platform)
  await until(async () => (await shown()).text.includes(`"${status}"`), { withinMs: 20_000, awaited: 'its status' })
}

/** Sends a push message of brand 1 through the platform. @returns its identifier */
async function deliver(shell: Shell, ids: { readonly id: number } & Readonly<Record<string, number>>): Promise<string> {
  const activity = { brand_id: 1, user_id: '1001', trigger_hash: 'h', ...ids }
  await ok(post(`${url(shell, 7102)}/admin/activities/push`, { activity, title: 'Hello' }, keys.crm))
  const found = async () =>
    (await ok(get(`${url(shell, 7102)}/admin/messages?id=${ids.id}`, keys.platform))).body.messages[0]
  await until(async () => (await found()).outcome === 'successful', { withinMs: 20_000, awaited: 'its delivery' })
  return (await found()).ref
}
