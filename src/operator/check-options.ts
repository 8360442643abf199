// The checks of createOperator's options before start(), in the words of the configuration file.

import { checkAccessKeys, checkKeys } from '../http/check-keys.ts'
import {
  checkOptions,
  type Form,
  longKeyForm,
  millisecondsForm,
  originForm,
  storeForm,
  urlForm,
  wholeForm,
} from '../runtime/forms.ts'
import type { OperatorLimits, OperatorOptions, ReconciliationLimits } from './options.ts'

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
      for (const [name, value] of Object.entries(options)) {
        const form = forms[name]
        if (form) check.optional(`${path}.${name}`, value, form)
        else
          check.wrong({
            path: `${path}.${name}`,
            description: 'unknown option',
            remedy: `the options are: ${Object.keys(forms).join(', ')}`,
          })
      }
    }
  })
}
