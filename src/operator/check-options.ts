// The checks of createOperator's options before start(), in the words of the configuration file.

import { checkAccessKeys, checkKeys } from '../runtime/check-keys.ts'
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

/** test/config/forms.test.ts holds these equal to those of the configuration file. */
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

export const reconciliationLimitForms: { readonly [Name in keyof ReconciliationLimits]: Form } = {
  streams: wholeForm(1, 1_000),
  stallMs: millisecondsForm,
  streamMs: millisecondsForm,
}

/** @throws ConfigError with everything that is wrong at once, each by its path */
export function checkOperatorOptions(options: OperatorOptions): void {
  checkOptions('createOperator', (look) => {
    const { keys = [], adminKeys = [], app, limits = {}, reconciliation = {} } = options
    look.required('store', options.store, storeForm)
    look.optional('publicUrl', options.publicUrl, urlForm)
    look.filled('keys', keys, 'the platform needs a key to call this API: add one under keys')
    checkKeys(look, 'keys', keys)
    for (const [i, { brands }] of keys.entries())
      look.filled(`keys[${i}].brands`, brands, "write brands: ['1'], with the brand_id that the platform sends")
    checkAccessKeys(look, 'adminKeys', adminKeys)
    if (!options.attributes && options.suppression !== 'none')
      look.wrong({
        path: 'attributes',
        what: 'no source of blocked users and consent is set',
        remedy: "give a source, or write suppression: 'none' to send to everybody",
      })
    if (app) {
      look.filled('app.secrets', app.secrets, longKeyForm.remedy)
      for (const [i, secret] of (app.secrets ?? []).entries()) look.required(`app.secrets[${i}]`, secret, longKeyForm)
      for (const [i, origin] of (app.origins ?? []).entries()) look.required(`app.origins[${i}]`, origin, originForm)
    }
    look.optional('keptMs', options.keptMs, millisecondsForm)
    look.optional('contentsKeptMs', options.contentsKeptMs, millisecondsForm)
    checkNumbers('limits', limits, operatorLimitForms)
    checkNumbers('reconciliation', reconciliation, reconciliationLimitForms)

    function checkNumbers(path: string, given: object, forms: Readonly<Record<string, Form>>): void {
      for (const [name, value] of Object.entries(given)) {
        const form = forms[name]
        if (form) look.optional(`${path}.${name}`, value, form)
        else
          look.wrong({
            path: `${path}.${name}`,
            what: 'unknown option',
            remedy: `there are: ${Object.keys(forms).join(', ')}`,
          })
      }
    }
  })
}
