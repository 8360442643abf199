// Combines the options of `bellwire check platform` with the file: an option overrides the file, which overrides a default.

import type { RuleSet } from '../../checker/check.ts'
import type { Facts, PlatformEndpoints } from '../../checker/facts.ts'
import type { Feature } from '../../checker/target.ts'
import { webhookKey } from '../../contract/webhook-signature.ts'
import type { Json } from '../../runtime/json.ts'
import { CliError, exit } from '../exit.ts'
import { readKey } from '../running-side.ts'
import type { EnqueueOptions } from './enqueue-records.ts'
import { defaultBatch, defaultMessage } from './facts.ts'
import { linkChannelOf } from './link-channels.ts'
import { type PlatformPreparation, readPlatformPreparation } from './platform-preparation.ts'
import { restartByCommand, restartByPerson, runShell } from './shell.ts'

/** The options that the file may have too, named as in the command line. */
export interface PlatformSettings extends EnqueueOptions {
  readonly host: string
  readonly port: number
  readonly brand: string
  readonly user: string
  readonly otherUser?: string
  readonly patience: number
  readonly quiet: number
  readonly rules: RuleSet
  readonly message: Readonly<Record<string, Json>>
  readonly agreed: Readonly<Record<string, string>>
  readonly failedCommand?: string
  readonly reconcileCommand?: string
  readonly restartCommand?: string
  readonly platformUrl?: string
  readonly linkKeyFile?: string
  readonly statusSecretFile?: string
  readonly devicesCommand?: string
  readonly links?: PlatformPreparation['links']
  readonly features?: readonly Feature[]
  readonly batchMax?: number
  readonly batchSpan?: number
  readonly platformTimeout?: number
}

export interface GivenOptions extends Partial<PlatformSettings> {
  readonly file?: string
  readonly key?: string
  readonly keyFile?: string
}

export const defaults: PlatformSettings = {
  host: '127.0.0.1',
  port: 4850,
  brand: '1',
  user: 'bellwire-check',
  patience: 60_000,
  quiet: 5_000,
  rules: 'bellwire',
  message: defaultMessage,
  agreed: {},
}

/** The key of the examples. It is no secret. */
export const exampleKey = 'example-operator-key-1'

/** @throws CliError if a file cannot be read, ConfigError with all problems of the file */
export async function combine(
  given: GivenOptions,
): Promise<{ readonly settings: PlatformSettings; readonly key: string }> {
  const written = given.file === undefined ? {} : await readPlatformPreparation(given.file)
  const keyFile = given.keyFile ?? (given.key === undefined ? written.keyFile : undefined)
  const key = keyFile === undefined ? (given.key ?? exampleKey) : await readKey(keyFile)
  return { settings: { ...defaults, ...(written as Partial<PlatformSettings>), ...given }, key }
}

/**
 * @param askRestart asks the person at the terminal to restart the platform
 * @throws CliError if a file cannot be read, or has no secret
 */
export async function factsOf(
  settings: PlatformSettings,
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
    content: message,
    batchMax: batchMax ?? defaultBatch,
    batchMaxAgreed: batchMax !== undefined,
    ...(batchSpan !== undefined && { batchSpan }),
    ...(platformTimeout !== undefined && { platformTimeout }),
    ...(failedCommand !== undefined && { failedActions: () => runShell('failed', failedCommand) }),
    ...(reconcileCommand !== undefined && {
      reconcile: (field) =>
        runShell('reconcile', reconcileCommand, { FIELD: field }).then(
          () => true,
          () => false,
        ),
    }),
    ...(platform && { platform }),
    ...(links && { links: links.map((to) => linkChannelOf(to, brand)) }),
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
}: PlatformSettings): Promise<PlatformEndpoints | undefined> {
  if (url === undefined) return undefined
  const linkKey = linkKeyFile === undefined ? undefined : await readKey(linkKeyFile)
  const statusSecret = statusSecretFile === undefined ? undefined : await readKey(statusSecretFile)
  if (statusSecret !== undefined && webhookKey(statusSecret) === undefined)
    throw new CliError(
      exit.usage,
      `${statusSecretFile} has no secret: write whsec_ and the base64 form of 24 to 64 bytes into it`,
    )
  return { url, ...(linkKey !== undefined && { linkKey }), ...(statusSecret !== undefined && { statusSecret }) }
}
