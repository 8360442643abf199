// The checks of createOperator's options before start(), by the settings of the configuration file.

import {
  anything,
  byOption,
  checkOptions,
  component,
  custom,
  list,
  type OptionsOf,
  object,
  optional,
  orWord,
  required,
} from '../../base/runtime/check-options.ts'
import type { Fault } from '../../base/runtime/problem.ts'
import { brandFaults, keyFaults, pushFaults, retryFaults } from '../../subjects/settings/contradictions.ts'
import { operator } from '../../subjects/settings/operator.ts'
import {
  alertsOption,
  functionOption,
  pushOption,
  siteOption,
  suppressionOption,
} from '../../subjects/settings/option-checks.ts'
import { sourceFaults } from '../../subjects/settings/own-code.ts'
import type { OperatorOptions } from './options.ts'

const { settings } = operator
const { to: _platform, providers, ...published } = settings.publish.of.settings
const { to: _webhook, ...reported } = settings.status.settings.webhooks.of.settings

const webhook = object({ ...byOption(reported), sender: custom('a sender, such as statusWebhook({ … })', 'send') })

const known: OptionsOf<OperatorOptions> = {
  store: required(settings.store),
  keys: settings.keys,
  publicUrl: settings.public_url,
  adminKeys: settings.admin_keys,
  push: pushOption,
  judgeDevice: functionOption,
  deviceLimits: settings.device_limits,
  publish: optional(
    list(
      object({
        ...byOption(published),
        providers: orWord('all', providers),
        publisher: custom('a publisher, such as restPublisher({ … })', 'publish'),
      }),
    ),
  ),
  site: siteOption,
  attributes: optional(component('an AttributeSource, with a function among', ['among'], sourceFaults)),
  suppression: suppressionOption,
  app: settings.app,
  status: optional(
    object({ ...byOption(settings.status.settings), webhooks: optional(list(webhook)), receipts: anything }),
  ),
  content: settings.content,
  keptMs: settings.keep,
  contentsKeptMs: settings.keep_contents,
  auditKeptMs: settings.keep_audit,
  alerts: alertsOption,
  console: settings.console,
  configuration: optional(custom('a Configuration, with a function reload', 'reload')),
  limits: settings.limits,
  testing: optional(object({ reconciliation: anything, bodyTimeoutMs: anything, appPerMinute: anything })),
}

/** @throws ConfigError with all problems at once, each with the path of its option */
export function checkOperatorOptions(options: OperatorOptions): void {
  checkOptions('createOperator', options, known, contradictions)
}

function contradictions({
  keys = [],
  adminKeys = [],
  publish = [],
  push,
  ...options
}: OperatorOptions): readonly Fault[] {
  const brands = keys.flatMap((key) => key.brands)
  const found = [
    ...pushFaults('push', push),
    ...keyFaults('keys', keys),
    ...keyFaults('adminKeys', adminKeys),
    ...(options.status?.webhooks ?? []).flatMap(({ brand }, i) =>
      brandFaults(`status.webhooks[${i}].brand`, [brand], brands, 'the brands of keys'),
    ),
    ...retryFaults('publish', publish),
    ...retryFaults('status.webhooks', options.status?.webhooks ?? []),
  ]
  if (!options.attributes && options.suppression !== 'none')
    found.push({
      path: 'attributes',
      description: 'no source of blocked users and consent is set',
      remedy: "set a source, or write suppression: 'none' to send to all users",
    })
  return found
}
