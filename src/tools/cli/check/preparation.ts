// The file of `bellwire check operator --file`: the address of the operator and what a person prepared. docs/test-operator.md
// shows one with every setting.

import { brand, duration, integer, oneOf, path, text, url } from '../../../base/runtime/kinds.ts'
import { group, json, list, type ValueOf } from '../../../base/runtime/setting.ts'
import { reconciliationFields } from '../../../contract/records.ts'
import { ruleSets } from '../../checker/check.ts'
import { features } from '../../checker/target.ts'
import { agreements, type MapOf, messageMembers, readTable } from './read-table.ts'

const optional = { optional: true } as const

export const preparationTable = group('', {
  url: url({ ...optional, help: 'The base URL of the operator, without /channels.' }),
  key_file: path({ ...optional, help: 'A file with the API key that the operator issued.' }),
  profile: path({
    ...optional,
    help: 'The integration profile of the operator: its address, endpoints, batch maximum and fields.',
  }),
  brand: brand({ ...optional, help: 'The brand_id of all messages. Default: 1.' }),
  users: group(
    '',
    {
      normal: text({ ...optional, help: 'A user who can receive messages on all channels.' }),
      blocked: text({ ...optional, help: 'A user who must not receive messages.' }),
      without_device: text({ ...optional, help: 'A user whom no push can reach.' }),
    },
    optional,
  ),
  known: json({
    ...optional,
    help: 'Known values of fields, by user. Default: the normal user is neither blocked nor excluded.',
  }),
  message: json({ ...optional, help: 'The content and the target of the messages, beside activity.' }),
  fields: list(oneOf(reconciliationFields, { help: 'A field.' }), {
    ...optional,
    help: 'The fields that the operator can list.',
  }),
  failing_field: oneOf(reconciliationFields, { ...optional, help: 'A field whose list fails while it is streamed.' }),
  batch_max: integer(3, 2_000, {
    ...optional,
    help: 'The batch maximum that the operator announced. Without it, the largest batch has 100 messages.',
  }),
  features: list(oneOf(features, { help: 'An endpoint.' }), {
    ...optional,
    help: 'The endpoints that the operator must offer. Default: those that it offers',
  }),
  restart_command: text({ ...optional, help: 'A shell command that restarts the operator.' }),
  rules: oneOf(ruleSets, { default: 'bellwire', help: 'The rules to check. bellwire has all of them.' }),
  timeout: duration({ default: '30s', option: 'timeout', help: 'The longest wait for an answer.' }),
  agreed: json({ ...optional, help: 'Agreements to print on the sign-off sheet: a text by name.' }),
})

export type Preparation = ValueOf<typeof preparationTable>

const known: MapOf<Preparation> = {
  name: 'known',
  fits: isKnown,
  expected: 'a map of users to fields with true or false',
  example: '"1002": {blocked: true}',
}

/** @throws CliError if the file cannot be read, ConfigError with all its problems */
export const readPreparation = (file: string | undefined): Promise<Preparation> =>
  readTable(preparationTable, file, [known, messageMembers, agreements])

function isKnown(values: unknown): boolean {
  if (typeof values !== 'object' || values === null) return false
  return Object.entries(values).every(
    ([name, value]) => (reconciliationFields as readonly string[]).includes(name) && typeof value === 'boolean',
  )
}
