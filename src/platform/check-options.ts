// Checks the options of createPlatform() before start(). The errors use the terms of the configuration file.

import { checkStores } from '../brands/store-problems.ts'
import { webhookKey } from '../contract/webhook-signature.ts'
import { checkAccessKeys } from '../http/check-keys.ts'
import {
  brandForm,
  checkOptions,
  type Form,
  millisecondsForm,
  type OptionChecks,
  textForm,
  urlForm,
  wholeForm,
  wordForm,
} from '../runtime/forms.ts'
import type { LaneOptions, PlatformOptions } from './options.ts'

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
