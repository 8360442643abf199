// The options of the library and the settings of the configuration file have the same formats and limits.

import assert from 'node:assert/strict'
import test from 'node:test'
import { brand, key, longKey, origin, store, url } from '../../src/config/kinds.ts'
import { table } from '../../src/config/table.ts'
import { keyRateForm, operatorLimitForms, reconciliationLimitForms } from '../../src/operator/check-options.ts'
import { attemptsForm, laneForms } from '../../src/platform/check-options.ts'
import * as forms from '../../src/runtime/forms.ts'

const samples = [
  '',
  'short',
  'sixteen-letters!',
  'sixteen letters and a space',
  'a'.repeat(32),
  'ä'.repeat(32),
  '0',
  '01',
  '-1',
  '9223372036854775807',
  '9223372036854775808',
  'https://operator.example/api',
  'https://operator.example',
  'ftp://operator.example',
  'operator.example',
  'sqlite:',
  'sqlite:./operator.db',
  'postgres://bell:pass@db/bell',
  'postgres:// /',
  'mysql://db/bell',
]

for (const [name, kind, form] of [
  ['key', key, forms.keyForm],
  ['secret of subscriber tokens', longKey, forms.longKeyForm],
  ['brand', brand, forms.brandForm],
  ['address', url, forms.urlForm],
  ['origin', origin, forms.originForm],
  ['store', store, forms.storeForm],
] as const)
  test(`${name}: the library and the configuration file accept the same values`, () => {
    const setting = kind({ help: '' })
    assert.equal(form.expected, setting.expected)
    for (const text of samples) assert.equal(form.fits(text), setting.parse(text, '/') !== undefined, text)
  })

test('numbers have the same limits in the library and in the configuration file', () => {
  const operator = table.settings.operator.settings
  const lane = table.settings.platform.settings.lanes.of.settings
  for (const [form, setting] of [
    [operatorLimitForms.batchMax, operator.limits.settings.batch],
    [operatorLimitForms.inProgress, operator.limits.settings.in_progress],
    [operatorLimitForms.providerConcurrency, operator.limits.settings.provider_concurrency],
    [keyRateForm, operator.keys.of.settings.rate.settings.per_second],
    [reconciliationLimitForms.streams, operator.reconciliation.settings.streams],
    [laneForms.max, lane.max],
    [laneForms.concurrency, lane.concurrency],
    [laneForms.perSecond, lane.per_second],
    [attemptsForm, lane.retry.settings.attempts],
  ] as const)
    assert.equal(form.expected, setting.expected)
})
