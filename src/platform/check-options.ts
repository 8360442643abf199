// Checks the options of createPlatform() before start(). The errors use the terms of the configuration file.

import type { StoreOptions } from '../brands/configured-stores.ts'
import { checkStores } from '../brands/store-problems.ts'
import { webhookKey } from '../contract/webhook-signature.ts'
import type { ProviderLimits } from '../delivery/compose.ts'
import { appNames, checkSuppressionNames, contentNames } from '../delivery/option-names.ts'
import { checkAccessKeys } from '../http/check-keys.ts'
import type { BodyLimits } from '../http/request-bodies.ts'
import {
  brandForm,
  checkOptions,
  type Form,
  millisecondsForm,
  type OptionChecks,
  optionNames,
  textForm,
  urlForm,
  wholeForm,
  wordForm,
} from '../runtime/forms.ts'
import type { IntakeSource, LaneOptions, OwnDeliveryOptions, PlatformOptions } from './options.ts'

const anySize = wholeForm(1, Number.MAX_SAFE_INTEGER)

/** Equal to the forms of the configuration file: see test/config/forms.test.ts. */
export const laneForms = {
  max: wholeForm(1, 1_000_000),
  bytes: anySize,
  spanMs: millisecondsForm,
  concurrency: wholeForm(1, 100_000),
  perSecond: wholeForm(1, 10_000_000),
  timeoutMs: millisecondsForm,
} as const satisfies { readonly [Name in keyof LaneOptions]?: Form }

export const attemptsForm = wholeForm(1, 1_000_000)

/** @throws ConfigError that lists every problem with its path */
export function checkPlatformOptions(options: PlatformOptions): void {
  checkOptions('createPlatform', (look) => {
    const { keys = [], lanes = [], intake = [] } = options
    checkNames(look, options)
    checkStores(look, options)
    look.optional('publicUrl', options.publicUrl, urlForm)
    checkAccessKeys(look, 'keys', keys)
    for (const [i, lane] of lanes.entries()) {
      checkLane(look, `lanes[${i}]`, lane)
      if (lanes.slice(0, i).some(({ brand, channel }) => brand === lane.brand && channel === lane.channel))
        look.wrong({
          path: `lanes[${i}]`,
          description: 'this brand and channel already has a lane',
          remedy: 'keep one lane for each brand and channel',
        })
    }
    for (const [i, { provider, channel }] of lanes.entries())
      if (provider === 'own' && options.own?.[channel] === undefined)
        look.wrong({
          path: `lanes[${i}].provider`,
          description: `the platform has no provider of its own for ${channel} messages`,
          remedy: `add own.${channel}, or use operatorApi({ url, apiKey })`,
        })
    for (const [i, { channel, brands = [] }] of intake.entries()) {
      look.optional(`intake[${i}].channel`, channel, wordForm('push', 'site'))
      for (const [n, brand] of brands.entries()) look.required(`intake[${i}].brands[${n}]`, brand, brandForm)
    }
    for (const [i, { transactional }] of lanes.entries())
      for (const [n, name] of (transactional?.keys ?? []).entries())
        if (!keys.some((key) => key.name === name && key.scopes?.includes('enqueue')))
          look.wrong({
            path: `lanes[${i}].transactional.keys[${n}]`,
            description: `no key with the scope enqueue is named ${JSON.stringify(name)}`,
            remedy: 'write the name of such a key under keys',
          })
    look.optional('keptMs', options.keptMs, millisecondsForm)
    look.optional('contentsKeptMs', options.contentsKeptMs, millisecondsForm)
    look.optional('bodyBytes', options.bodyBytes, anySize)
  })
}

function checkLane({ required, optional, wrong }: OptionChecks, path: string, lane: LaneOptions): void {
  required(`${path}.brand`, lane.brand, brandForm)
  required(`${path}.channel`, lane.channel, wordForm('push', 'site'))
  required(`${path}.mode`, lane.mode, wordForm('single', 'batch'))
  required(`${path}.provider`, lane.provider, providerForm)
  for (const [name, form] of Object.entries(laneForms))
    optional(`${path}.${name}`, lane[name as keyof typeof laneForms], form)
  for (const [i, secret] of (lane.status?.secrets ?? []).entries())
    required(`${path}.status.secrets[${i}]`, secret, webhookSecretForm)
  optional(`${path}.status.waitMs`, lane.status?.waitMs, millisecondsForm)
  if (lane.status?.poll) {
    required(`${path}.status.poll.url`, lane.status.poll.url, urlForm)
    if (lane.status.poll.auth === undefined)
      required(`${path}.status.poll.apiKey`, lane.status.poll.apiKey, { ...textForm, secret: true })
    optional(`${path}.status.poll.everyMs`, lane.status.poll.everyMs, millisecondsForm)
  }
  const { firstMs, mostMs, attempts } = lane.retry ?? {}
  optional(`${path}.retry.firstMs`, firstMs, millisecondsForm)
  optional(`${path}.retry.mostMs`, mostMs, millisecondsForm)
  optional(`${path}.retry.attempts`, attempts, attemptsForm)
  if (firstMs !== undefined && mostMs !== undefined && firstMs > mostMs)
    wrong({
      path: `${path}.retry`,
      description: 'firstMs is longer than mostMs',
      remedy: 'firstMs is the shortest backoff, mostMs the longest: lower firstMs or raise mostMs',
    })
}

export const webhookSecretForm: Form = {
  expected: 'whsec_ and 24 to 64 bytes in base64',
  fits: (value) => typeof value === 'string' && webhookKey(value) !== undefined,
  remedy: 'make one with: echo whsec_$(openssl rand -base64 32)',
  secret: true,
}

const providerForm: Form = {
  expected: "operatorApi({ url, apiKey }), a custom Provider, or 'own'",
  fits: (value) =>
    value === 'own' || typeof value === 'function' || typeof (value as { send?: unknown }).send === 'function',
}

/** A misspelt option would be ignored. */
function checkNames({ known }: OptionChecks, options: PlatformOptions): void {
  known('', options, platformNames)
  for (const [i, lane] of (options.lanes ?? []).entries()) {
    known(`lanes[${i}]`, lane, laneNames)
    known(`lanes[${i}].expires`, lane.expires, expiresNames)
    known(`lanes[${i}].transactional`, lane.transactional, transactionalNames)
    known(`lanes[${i}].status`, lane.status, statusNames)
    known(`lanes[${i}].retry`, lane.retry, retryNames)
  }
  for (const [i, each] of (options.stores ?? []).entries()) known(`stores[${i}]`, each, storeNames)
  for (const [i, each] of (options.intake ?? []).entries()) known(`intake[${i}]`, each, intakeNames)
  known('bodies', options.bodies, bodyNames)
  known('own', options.own, ownNames)
  known('own.app', options.own?.app, appNames)
  known('own.content', options.own?.content, contentNames)
  known('own.limits', options.own?.limits, ownLimitNames)
  checkSuppressionNames(known, 'own.suppression', options.own?.suppression)
}

type Part<Name extends keyof LaneOptions> = NonNullable<LaneOptions[Name]>

const platformNames = optionNames<PlatformOptions>({
  store: true,
  stores: true,
  keys: true,
  publicUrl: true,
  lanes: true,
  own: true,
  intake: true,
  deviceLinks: true,
  judgeDevice: true,
  devicesPerUser: true,
  reconciliation: true,
  readAheadBytes: true,
  keptMs: true,
  contentsKeptMs: true,
  bodyBytes: true,
  bodies: true,
})
const laneNames = optionNames<LaneOptions>({
  brand: true,
  channel: true,
  provider: true,
  mode: true,
  max: true,
  bytes: true,
  spanMs: true,
  concurrency: true,
  perSecond: true,
  timeoutMs: true,
  failedActions: true,
  expires: true,
  transactional: true,
  status: true,
  retry: true,
})
const expiresNames = optionNames<Part<'expires'>>({ at: true, afterMs: true })
const transactionalNames = optionNames<Part<'transactional'>>({ at: true, activities: true, keys: true })
const statusNames = optionNames<Part<'status'>>({ secrets: true, waitMs: true, poll: true })
const retryNames = optionNames<Part<'retry'>>({ firstMs: true, mostMs: true, attempts: true })
const storeNames = optionNames<StoreOptions>({ number: true, url: true, brands: true })
const intakeNames = optionNames<IntakeSource>({ consumer: true, channel: true, brands: true })
const bodyNames = optionNames<BodyLimits>({ bodyBytesInFlight: true, bodyTimeoutMs: true })
const ownNames = optionNames<OwnDeliveryOptions>({
  push: true,
  site: true,
  suppression: true,
  app: true,
  receiptsFrom: true,
  content: true,
  limits: true,
})
const ownLimitNames = optionNames<ProviderLimits>({ providerConcurrency: true, providerTimeoutMs: true })
