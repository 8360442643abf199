// The checks of createOperator's options before start(), in the words of the configuration file.

import { appNames, checkSuppressionNames, contentNames } from '../delivery/option-names.ts'
import { checkAccessKeys, checkKeys } from '../http/check-keys.ts'
import {
  checkOptions,
  type Form,
  longKeyForm,
  millisecondsForm,
  type OptionChecks,
  optionNames,
  originForm,
  storeForm,
  urlForm,
  wholeForm,
} from '../runtime/forms.ts'
import type { ApiKey, DeviceLimits, KeyRate, OperatorLimits, OperatorOptions, ReconciliationLimits } from './options.ts'
import type { StatusOptions } from './statuses.ts'

const anySize = wholeForm(1, Number.MAX_SAFE_INTEGER)

/** test/config/forms.test.ts checks that they equal the forms of the configuration file. */
export const operatorLimitForms: { readonly [Name in keyof OperatorLimits]: Form } = {
  bodyBytes: anySize,
  bodyBytesInFlight: anySize,
  bodyTimeoutMs: millisecondsForm,
  batchMax: wholeForm(1, 100_000),
  answerBudgetMs: millisecondsForm,
  inProgress: wholeForm(1, 10_000_000),
  providerConcurrency: wholeForm(1, 100_000),
  providerTimeoutMs: millisecondsForm,
}

export const keyRateForm = wholeForm(1, 10_000_000)

export const reconciliationLimitForms: { readonly [Name in keyof ReconciliationLimits]: Form } = {
  streams: wholeForm(1, 1_000),
  stallMs: millisecondsForm,
  streamMs: millisecondsForm,
}

/** @throws ConfigError with all problems at once, each with the path of its option */
export function checkOperatorOptions(options: OperatorOptions): void {
  checkOptions('createOperator', (check) => {
    const { keys = [], adminKeys = [], app, limits = {}, reconciliation = {} } = options
    checkNames(check, options)
    check.required('store', options.store, storeForm)
    check.optional('publicUrl', options.publicUrl, urlForm)
    check.filled('keys', keys, 'the platform needs a key to call this API: add one under keys')
    checkKeys(check, 'keys', keys)
    for (const [i, { brands, rate }] of keys.entries()) {
      check.filled(`keys[${i}].brands`, brands, "write brands: ['1'], with the brand_id that the platform sends")
      check.optional(`keys[${i}].rate.perSecond`, rate?.perSecond, keyRateForm)
      check.optional(`keys[${i}].rate.perBrand`, rate?.perBrand, keyRateForm)
    }
    checkAccessKeys(check, 'adminKeys', adminKeys)
    if (!options.attributes && options.suppression !== 'none')
      check.wrong({
        path: 'attributes',
        description: 'no source of blocked users and consent is set',
        remedy: "set a source, or write suppression: 'none' to send to all users",
      })
    if (app) {
      check.filled('app.secrets', app.secrets, longKeyForm.remedy)
      for (const [i, secret] of (app.secrets ?? []).entries()) check.required(`app.secrets[${i}]`, secret, longKeyForm)
      for (const [i, origin] of (app.origins ?? []).entries()) check.required(`app.origins[${i}]`, origin, originForm)
    }
    check.optional('keptMs', options.keptMs, millisecondsForm)
    check.optional('contentsKeptMs', options.contentsKeptMs, millisecondsForm)
    checkNumbers('limits', limits, operatorLimitForms)
    checkNumbers('reconciliation', reconciliation, reconciliationLimitForms)

    function checkNumbers(path: string, options: object, forms: Readonly<Record<string, Form>>): void {
      check.known(path, options, Object.keys(forms))
      for (const [name, value] of Object.entries(options))
        if (forms[name]) check.optional(`${path}.${name}`, value, forms[name])
    }
  })
}

/** A misspelt option would be ignored: a rate limit that nobody has. */
function checkNames({ known }: OptionChecks, options: OperatorOptions): void {
  known('', options, operatorNames)
  for (const [i, key] of (options.keys ?? []).entries()) {
    known(`keys[${i}]`, key, keyNames)
    known(`keys[${i}].rate`, key.rate, rateNames)
  }
  known('deviceLimits', options.deviceLimits, deviceLimitNames)
  known('app', options.app, appNames)
  checkSuppressionNames(known, 'suppression', options.suppression)
  known('content', options.content, contentNames)
  known('status', options.status, statusNames)
}

const operatorNames = optionNames<OperatorOptions>({
  store: true,
  keys: true,
  publicUrl: true,
  adminKeys: true,
  push: true,
  judgeDevice: true,
  deviceLimits: true,
  publish: true,
  site: true,
  attributes: true,
  suppression: true,
  reconciliation: true,
  app: true,
  status: true,
  content: true,
  keptMs: true,
  contentsKeptMs: true,
  limits: true,
})
const keyNames = optionNames<ApiKey>({ name: true, key: true, brands: true, rate: true })
const rateNames = optionNames<KeyRate>({ perSecond: true, perBrand: true })
const deviceLimitNames = optionNames<DeviceLimits>({ app: true, services: true, appPerMinute: true })
const statusNames = optionNames<StatusOptions>({ polling: true, receiptsFrom: true, webhooks: true })
