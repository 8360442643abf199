// The file of `bellwire check platform --file`. Each setting has the name of its option. docs/test-platform.md shows a file with every
// setting.

import { ruleSets } from '../../checker/check.ts'
import { brand, duration, integer, oneOf, path, text, url } from '../../runtime/kinds.ts'
import { group, json, list, type ValueOf, variants } from '../../runtime/setting.ts'
import { publishedTo } from '../../settings/device-channels.ts'
import { agreements, messageMembers, readTable } from './read-table.ts'
import { sendFeatures } from './send-features.ts'

const optional = { optional: true } as const

export const platformPreparationTable = group(
  { help: 'The preparation of a check.' },
  {
    host: text({ ...optional, help: 'The address at which the platform reaches the command.' }),
    port: integer(0, 65_535)({ ...optional, help: 'The port; 0 chooses a free one.' }),
    key_file: path({ ...optional, help: 'A file with the API key that the platform is configured with.' }),
    enqueue_command: text({ ...optional, help: 'A shell command that makes the platform send $FILE on $CHANNEL.' }),
    failed_command: text({ ...optional, help: 'A shell command that prints Failed Actions: any text with the ids.' }),
    reconcile_command: text({
      ...optional,
      help: 'A shell command that makes the platform request the list of $FIELD.',
    }),
    platform_url: url({ ...optional, help: 'The {platform_url} of the platform, for links and statuses.' }),
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
    folder: path({ ...optional, help: 'Where the files of records are written.' }),
    brand: brand({ ...optional, help: 'The brand_id of all records.' }),
    user: text({ ...optional, help: 'The user_id of all records.' }),
    other_user: text({ ...optional, help: 'Another user, to whom a device is moved.' }),
    message: json({ ...optional, help: 'The content and the target of the records, beside activity.' }),
    features: list(oneOf(...sendFeatures)({ help: 'An endpoint.' }), {
      ...optional,
      help: 'The endpoints that the platform must use.',
    }),
    batch_max: integer(2, 2_000)({ ...optional, help: 'The number of messages in a batch.' }),
    batch_span: duration({
      ...optional,
      option: 'batchSpan',
      help: 'The time span after which an incomplete batch is sent.',
    }),
    platform_timeout: duration({
      ...optional,
      option: 'platformTimeout',
      help: 'The time after which the platform gives up on an answer.',
    }),
    patience: duration({ ...optional, option: 'patience', help: 'The longest wait for a request or a repetition.' }),
    quiet: duration({ ...optional, option: 'quiet', help: 'The time to wait for a wrong repetition.' }),
    rules: oneOf(...ruleSets)({ ...optional, help: 'The rules to check.' }),
    agreed: json({ ...optional, help: 'Agreements to print on the sign-off sheet: a text by name.' }),
  },
)

export type PlatformPreparation = ValueOf<typeof platformPreparationTable>

/** @throws CliError if the file cannot be read, ConfigError with all its problems */
export const readPlatformPreparation = (file: string): Promise<PlatformPreparation> =>
  readTable(platformPreparationTable, file, [messageMembers, agreements])
