// Writes the files of `bellwire stand-ins`: credentials in the formats of the real services, and a configuration that uses them.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { makeFolder } from '../../../base/runtime/make-folder.ts'
import type { VapidKeys } from '../../../subjects/providers/web-push/vapid.ts'
import type { StandIns } from '../../stand-ins/all.ts'
import { CliError, exit, refuseWith } from '../exit.ts'

/** The keys of the written configuration. They are public, because it listens on this machine only. */
export const writtenKeys = {
  platform: 'stand-ins-platform-key-1',
  service: 'stand-ins-service-key-1',
} as const

const mark = '# Written by `bellwire stand-ins`'
const config = 'bellwire.yaml'

const refuseFolder = refuseWith('--dir cannot be written')

/** @throws CliError if the folder contains a configuration that this command did not write */
export async function claimFolder(folder: string): Promise<void> {
  try {
    makeFolder(folder)
  } catch (error) {
    refuseFolder(error as Error)
  }
  const existing = await readFile(join(folder, config), 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? mark : refuseFolder(error),
  )
  if (existing.startsWith(mark)) return
  throw new CliError(
    exit.usage,
    `${join(folder, config)} was not written by bellwire stand-ins: choose another folder with --dir`,
  )
}

/** @returns the names of the files */
export async function writeFolder(folder: string, standIns: StandIns, vapid: VapidKeys): Promise<readonly string[]> {
  const { fcm, apns } = standIns
  const files: Readonly<Record<string, string | undefined>> = {
    'fcm-service-account.json': `${JSON.stringify(fcm.credentials, undefined, 2)}\n`,
    'fcm-ca.pem': fcm.ca,
    'apns-key.p8': apns.credentials.key,
    'apns-ca.pem': apns.ca,
    [config]: `${head}\n${stringify(operatorOf(standIns, vapid))}`,
  }
  const written = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined)
  await Promise.all(written.map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 }))).catch(
    refuseFolder,
  )
  return written.map(([name]) => name)
}

const head = `${mark}: an operator whose push services are the running stand-ins.
# Each start of the stand-ins overwrites this file with new credentials: start the operator afterwards.
#
#   bellwire operator --config bellwire.yaml
`

function operatorOf({ fcm, apns, 'web-push': webPush }: StandIns, vapid: VapidKeys): object {
  const { keyId, teamId } = apns.credentials
  return {
    operator: {
      host: '127.0.0.1',
      port: 7001,
      admin: { host: '127.0.0.1', port: 7101 },
      store: 'sqlite:operator.db',
      keys: [{ name: 'platform', key: writtenKeys.platform, brands: [1, 2] }],
      admin_keys: [
        {
          name: 'service',
          key: writtenKeys.service,
          scopes: ['counts', 'read', 'decide', 'attributes', 'devices', 'tokens'],
        },
      ],
      app: { secrets: ['stand-ins-secret-of-subscriber-tokens'] },
      suppression: 'none',
      push: {
        devices: {
          source: 'registry',
          services: [
            {
              provider: 'fcm',
              credentials: 'fcm-service-account.json',
              testing: { base_url: fcm.url },
              ...caOf(fcm, 'fcm-ca.pem'),
            },
            {
              provider: 'apns',
              key: 'apns-key.p8',
              key_id: keyId,
              team_id: teamId,
              topic: apns.topic,
              testing: { base_url: apns.url, sandbox_url: apns.sandboxUrl },
              ...caOf(apns, 'apns-ca.pem'),
            },
            {
              provider: 'web-push',
              public_key: vapid.publicKey,
              private_key: vapid.privateKey,
              subject: 'mailto:ops@example.com',
              testing: { origins: [webPush.url, ...browsers].map((from) => ({ from, to: webPush.url })) },
            },
          ],
        },
      },
    },
  }
}

/** The push services of the known browsers, redirected so that even a real subscription never leaves this machine. */
const browsers = [
  'https://fcm.googleapis.com',
  'https://updates.push.services.mozilla.com',
  'https://web.push.apple.com',
]

const caOf = ({ ca }: { readonly ca?: string }, file: string): object => (ca === undefined ? {} : { ca: file })
