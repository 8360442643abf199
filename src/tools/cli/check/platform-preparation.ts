// The file of `bellwire check platform --file`. Each setting has the name of its option. docs/test-platform.md shows a file with every
// setting.

import { brand, duration, integer, oneOf, path, text, url } from '../../../base/runtime/kinds.ts'
import { group, json, list, type ValueOf, variants } from '../../../base/runtime/setting.ts'
import { publishedTo } from '../../../subjects/settings/device-channels.ts'
import { ruleSets } from '../../checker/check.ts'
import { agreements, messageMembers, readTable } from './read-table.ts'
import { sendFeatures } from './send-features.ts'

const optional = { optional: true } as const

export const platformPreparationTable = group('', {
  host: text({ default: '127.0.0.1', help: 'The address at which the platform reaches this command.' }),
  port: integer(0, 65_535, { default: '4850', help: 'The port. 0 chooses a free one.' }),
  key_file: path({ ...optional, help: 'A file with the API key that the platform is configured with.' }),
  enqueue_command: text({ ...optional, help: 'A shell command that makes the platform send $FILE on $CHANNEL.' }),
  failed_command: text({ ...optional, help: 'A shell command that prints Failed Actions: any text with the ids.' }),
  reconcile_command: text({
    ...optional,
    help: 'A shell command that makes the platform request the list of $FIELD. It ends with 0 if the platform used the list.',
  }),
  platform_url: url({ ...optional, help: 'The {platform_url} of the platform, for links of devices and statuses.' }),
  link_key_file: path({ ...optional, help: 'A file with the API key of links, which the platform issues.' }),
  links: list(
    variants(
      {
        help: 'A broker from which the platform consumes links.',
        remedy: 'write {amqp: amqp://…} or {kafka: [host:port]}',
      },
      publishedTo,
    ),
    { ...optional, help: 'The brokers from which the platform consumes links.' },
  ),
  devices_command: text({
    ...optional,
    help: 'A shell command that prints the tokens of the devices of $USER_ID, or their first six characters.',
  }),
  status_secret_file: path({ ...optional, help: 'A file with the secret that signs statuses: whsec_…' }),
  restart_command: text({ ...optional, help: 'A shell command that restarts the platform.' }),
  folder: path({ ...optional, help: 'Where the files of records are written. Default: a temporary folder.' }),
  brand: brand({ default: '1', help: 'The brand_id of all records.' }),
  user: text({ default: 'bellwire-check', help: 'The user_id of all records.' }),
  other_user: text({ ...optional, help: 'Another user, to whom a device is moved. Default: the user with -2.' }),
  message: json({ ...optional, help: 'The content and the target of the records, beside activity.' }),
  features: list(oneOf(sendFeatures, { help: 'An endpoint.' }), {
    ...optional,
    help: 'The endpoints that the platform must use.',
  }),
  batch_max: integer(2, 2_000, {
    ...optional,
    help: 'The number of messages in a batch that the platform is configured with.',
  }),
  batch_span: duration({
    ...optional,
    option: 'batchSpan',
    help: 'The time span after which the platform sends an incomplete batch.',
  }),
  platform_timeout: duration({
    ...optional,
    option: 'platformTimeout',
    help: 'The time after which the platform gives up on an answer.',
  }),
  patience: duration({ default: '60s', option: 'patience', help: 'The longest wait for a request or a repetition.' }),
  quiet: duration({
    default: '5s',
    option: 'quiet',
    help: 'The time to wait at the end of the run for a wrong repetition.',
  }),
  rules: oneOf(ruleSets, { default: 'bellwire', help: 'The rules to check.' }),
  agreed: json({ ...optional, help: 'Agreements to print on the sign-off sheet: a text by name.' }),
})

export type PlatformPreparation = ValueOf<typeof platformPreparationTable>

/** @throws CliError if the file cannot be read, ConfigError with all its problems */
export const readPlatformPreparation = (file: string | undefined): Promise<PlatformPreparation> =>
  readTable(platformPreparationTable, file, [messageMembers, agreements])
