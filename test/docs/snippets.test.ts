// Readers copy the YAML blocks of the documentation into their own configurations, so each must work unchanged.

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { operatorOptions, platformOptions } from '../../src/sides/config/compose/compose.ts'
import { operatorProfile } from '../../src/sides/config/compose/operator-profile.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { readPlatformPreparation } from '../../src/tools/cli/check/platform-preparation.ts'
import { readPreparation } from '../../src/tools/cli/check/preparation.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { temporary } from '../support/sides.ts'
import { fencedSnippets, pages, root, type Snippet } from './blocks.ts'

test('every YAML block of README and docs is a valid configuration, together with the parts that it leaves out', async (t) => {
  const folder = await folderOfYaml(t)
  const wrong: string[] = []
  let blocks = 0
  for (const { from, text } of pages.flatMap((file) => fencedSnippets(file, 'yaml')).flatMap(withAlternatives)) {
    blocks++
    const file = join(folder, 'bellwire.yaml')
    await writeFile(file, completed(text))
    await checkYaml(text, file, from, folder).catch((error: Error) => wrong.push(`${from}: ${error.message}\n${text}`))
  }
  assert.deepEqual(wrong, [])
  assert.ok(blocks >= 35, String(blocks))
})

/** A setting in a comment is an alternative to the line above it. */
function withAlternatives({ text, ...block }: Snippet): Snippet[] {
  const written = text.replaceAll(/^ *# (\w+: .*)\n/gm, '')
  const alternatives = [...text.matchAll(/^( *)# ((\w+): .*)\n/gm)].map(([, indent, line = '', name]) => ({
    ...block,
    text: written.replace(new RegExp(`^${indent}${name}: .*$`, 'm'), () => indent + line),
  }))
  return [{ ...block, text: written }, ...alternatives]
}

/** Adds the settings that a side needs and the block leaves out. */
function completed(text: string): string {
  const [, side] = /^(operator|platform):$/m.exec(text) ?? []
  const needed = Object.entries(side === undefined ? {} : required[side as keyof typeof required])
  const missing = needed.filter(([name]) => !new RegExp(`^  ${name}:`, 'm').test(text))
  const brands = new Set(Array.from(text.matchAll(/brand: (\d+)/g), ([, brand = '']) => brand))
  return (
    text +
    missing
      .map(([name, value]) => `  ${name}: ${value}\n`)
      .join('')
      .replace('BRANDS', [...brands].join() || '1')
  )
}

const required = {
  operator: {
    keys: '[{name: platform, key: example-operator-key-1, brands: [BRANDS]}]',
    admin: '{port: 7101}',
    push: '{provider: recording, file: pushed.ndjson}',
    site: 'inbox',
    attributes: '[{file: users.csv}]',
  },
  platform: {
    store: 'sqlite:platform.db',
    keys: '[{name: crm, key: example-platform-key-1, scopes: [enqueue, counts, read, decide, attributes]}]',
    lanes:
      '[{brand: 1, channel: push, to: {provider: operator-api, url: "https://operator.example", api_key: example-operator-key-1}}]',
  },
}

const vapid = makeVapidKeys()

const variables = {
  OPERATOR_READ_KEY: 'a-key-with-the-scope-read',
  OIDC_SECRET: 'a-secret-of-the-provider',
  VAPID_PUBLIC_KEY: vapid.publicKey,
  SMTP_PASSWORD: 'password',
  SLACK_WEBHOOK: 'https://hooks.example/1',
  VAPID_PRIVATE_KEY: vapid.privateKey,
  OPERATOR_KEY: 'example-operator-key-1',
  PLATFORM_KEY: 'example-platform-key-1',
  LOGIN_KEY: 'example-platform-login-key',
  BACKEND_KEY: 'example-operator-tokens-key',
  APP_SECRET: 'example-secret-of-subscriber-tokens-1',
  STATUS_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  PAGER_SECRET: 'example-secret-of-the-pager',
  PLAYERS_TOKEN: 'example-token-of-players',
  DEVICES_SECRET: 'example-secret-of-devices',
  PASSWORD: 'example-password',
}

/** The files that blocks name. */
async function folderOfYaml(t: TestContext): Promise<string> {
  const folder = await temporary(t)
  const pem = (pair: { privateKey: KeyObject }) => pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account = {
    type: 'service_account',
    project_id: 'example',
    client_email: 'push@example.iam.gserviceaccount.com',
    private_key: pem(generateKeyPairSync('rsa', { modulusLength: 2048 })),
  }
  for (const name of ['service-account.json', 'firebase.json'])
    await writeFile(join(folder, name), JSON.stringify(account))
  const key = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  for (const name of ['AuthKey_ABC1234567.p8', 'AuthKey_ABC.p8']) await writeFile(join(folder, name), key)
  const certificate = makeCertificate()
  for (const name of ['ca.pem', 'client.pem']) await writeFile(join(folder, name), certificate.cert)
  await writeFile(join(folder, 'client.key'), certificate.key)
  await copyFile(join(root, 'examples/my-devices.ts'), join(folder, 'mine.ts'))
  await copyFile(join(root, 'examples/users.csv'), join(folder, 'users.csv'))
  new DatabaseSync(join(folder, 'shop.db')).exec(
    'create table devices (brand text, user_id text, token text, kind text)',
  )
  return folder
}

/** Checks a block as `config --check` does, or as `check … --file`. The first go-live block writes the profile for the blocks after it. */
async function checkYaml(text: string, file: string, from: string, folder: string): Promise<void> {
  if (/^(url|host): /.test(text)) {
    const prepared = await (text.startsWith('url') ? readPreparation(file) : readPlatformPreparation(file))
    assert.ok(Object.keys(prepared).length > 5)
    return
  }
  const { operator, platform } = await loadConfig(file, variables)
  assert.ok(operator ?? platform)
  if (operator) await operatorOptions(operator)
  if (platform) await platformOptions(platform)
  if (operator && from.startsWith('docs/go-live.md'))
    await writeFile(join(folder, 'operator-profile.json'), JSON.stringify(await operatorProfile(operator, Date.now())))
}
