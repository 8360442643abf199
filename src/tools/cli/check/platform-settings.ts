// Combines the options of `bellwire check platform` with the file: an option overrides the file, which overrides a default.

import type { Json } from '../../../base/runtime/json.ts'
import { present } from '../../../base/runtime/present.ts'
import { webhookKey } from '../../../contract/webhook-signature.ts'
import type { Facts, PlatformEndpoints } from '../../checker/facts.ts'
import { CliError, exit } from '../exit.ts'
import { readKey } from '../running-side.ts'
import { defaultBatch, defaultMessage } from './facts.ts'
import { linkChannelOf } from './link-channels.ts'
import { type PlatformPreparation, readPlatformPreparation } from './platform-preparation.ts'
import { restartByCommand, restartByPerson, runShell } from './shell.ts'

export interface GivenOptions extends Partial<PlatformPreparation> {
  readonly file?: string
  readonly key?: string
}

/** The key of the examples. It is no secret. */
export const exampleKey = 'example-operator-key-1'

/** @throws CliError if a file cannot be read, ConfigError with all problems of the file */
export async function combine(
  given: GivenOptions,
): Promise<{ readonly settings: PlatformPreparation; readonly key: string }> {
  const written = await readPlatformPreparation(given.file)
  const keyFile = given.keyFile ?? (given.key === undefined ? written.keyFile : undefined)
  const key = keyFile === undefined ? (given.key ?? exampleKey) : await readKey(keyFile)
  return { settings: { ...written, ...given }, key }
}

/**
 * @param askRestart asks the person at the terminal to restart the platform
 * @throws CliError if a file cannot be read, or has no secret
 */
export async function factsOf(
  settings: PlatformPreparation,
  askRestart: boolean,
  prepareTerminal: () => void,
): Promise<Facts> {
  const { brand, user, message, batchMax, batchSpan, platformTimeout, patience, quiet } = settings
  const { failedCommand, reconcileCommand, restartCommand, devicesCommand, links, otherUser: other } = settings
  const platform = await platformOf(settings)
  return {
    brand,
    users: { normal: user, ...(other !== undefined && { other }) },
    known: {},
    content: (message ?? defaultMessage) as Readonly<Record<string, Json>>,
    batchMax: batchMax ?? defaultBatch,
    batchMaxAgreed: batchMax !== undefined,
    ...present({ batchSpan, platformTimeout, platform }),
    ...(failedCommand !== undefined && { failedActions: () => runShell('failed', failedCommand) }),
    ...(reconcileCommand !== undefined && {
      reconcile: (field) =>
        runShell('reconcile', reconcileCommand, { FIELD: field }).then(
          () => true,
          () => false,
        ),
    }),
    ...(links && { links: await Promise.all(links.map((to, i) => linkChannelOf(to, brand, `links[${i}]`))) }),
    ...(devicesCommand !== undefined && {
      devices: (userId) => runShell('devices', devicesCommand, { USER_ID: userId }),
    }),
    ...(restartCommand !== undefined
      ? { restart: restartByCommand(restartCommand) }
      : askRestart && { restart: restartByPerson('platform', prepareTerminal) }),
    pace: { timeout: 30_000, slow: 3_000, giveUp: 0, retryPause: 0, patience, quiet },
  }
}

async function platformOf({
  platformUrl: url,
  linkKeyFile,
  statusSecretFile,
}: PlatformPreparation): Promise<PlatformEndpoints | undefined> {
  if (url === undefined) return undefined
  const linkKey = linkKeyFile === undefined ? undefined : await readKey(linkKeyFile)
  const statusSecret = statusSecretFile === undefined ? undefined : await readKey(statusSecretFile)
  if (statusSecret !== undefined && webhookKey(statusSecret) === undefined)
    throw new CliError(
      exit.usage,
      `${statusSecretFile} has no secret: write whsec_ and the base64 form of 24 to 64 bytes into it`,
    )
  return { url, ...present({ linkKey, statusSecret }) }
}
