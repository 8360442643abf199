// The settings of the generic HTTP provider, for operator.push and for push services for devices of the kind http:NAME.

import { hidden } from '../../../base/runtime/address.ts'
import { duration, kind, oneOf, pointer, text, yesNo } from '../../../base/runtime/kinds.ts'
import {
  type Group,
  group,
  json,
  list,
  rows,
  type Settings,
  type ValueOf,
  variants,
} from '../../../base/runtime/setting.ts'
import { defaultRules } from '../../providers/http/rules.ts'
import { authRemedy, authVariants, connectionSettings, secretText } from '../address.ts'
import { sendLimits } from '../shared.ts'

/** A header may be a credential: its value is printed only if it refers to a secret by a placeholder. */
const headerValue = kind('a text', (text) => text, {
  write: (value: string) => (value.includes('{{secret.') ? value : hidden),
})

export const httpAuth = variants(
  {
    section: 'Calls to other systems',
    sections: 'Calls to other systems: authentication',
    help: 'The authentication of the calls.',
    remedy: `${authRemedy}, {standard_webhooks: whsec_…} or none`,
    optional: true,
  },
  {
    none: {},
    ...authVariants,
    standard_webhooks: {
      standard_webhooks: text({
        help: 'Signing secret of the Standard Webhooks specification: whsec_ and base64.',
        secret: true,
        option: 'secret',
      }),
    },
  },
)

export const httpRule = group('HTTP provider: rules', {
  when: group('', {
    status: list(text({ help: 'A status.' }), {
      help: 'The HTTP status: 404, 4xx, or a list.',
      optional: true,
      allowSingle: true,
    }),
    body_path: pointer({ help: 'A field of the JSON response.', optional: true, option: 'body_path' }),
    equals: text({ help: 'The value of that field, as text.', optional: true }),
    matches: text({ help: 'A regular expression that matches the field.', optional: true }),
    exists: yesNo({ help: 'The field exists and is neither null nor empty.', optional: true }),
    absent: yesNo({ help: 'The field is missing, null or empty.', optional: true }),
  }),
  means: oneOf(['successful', 'failed', 'fatal', 'gone', 'mismatch', 'misconfigured'], {
    help: 'The outcome. gone: the provider no longer knows the user or the device. misconfigured: our settings are wrong, and sending pauses.',
  }),
  reason: text({ help: 'An explanation for people: the cause and the fix.', optional: true }),
})

export const httpHeaders = rows('Additional headers.', {
  name: text({ help: 'The name of the header.' }),
  value: headerValue({ help: 'The value, a template. Write secrets as {{secret.NAME}}.' }),
})

export const httpSecrets = rows('Secrets for templates. They are never printed.', {
  name: text({ help: 'The NAME in {{secret.NAME}}.' }),
  value: secretText('The secret.'),
})

/** The settings of a push service for devices; `operator.push` has more. */
export const httpSettings = {
  preset: oneOf(['onesignal', 'none'], { help: 'Ready-made settings for this provider.', default: 'none' }),
  name: text({ help: 'The name in logs, metrics and, for devices, in http:NAME.', optional: true }),
  url: text({
    help: 'The address to which requests are POSTed. Path and query may contain {{placeholders}}.',
    optional: true,
    outbound: true,
  }),
  secrets: httpSecrets,
  auth: httpAuth,
  headers: httpHeaders,
  body: json({ help: 'The JSON body, written as YAML. Texts may contain {{placeholders}}.', optional: true }),
  rules: list(httpRule, {
    help: `Rules that map responses to outcomes; the first match decides. ${defaultRules.length} default rules, by status, follow them.`,
  }),
  id: pointer({ help: "The provider's own identifier in its response.", optional: true }),
  overrides: list(text({ help: 'A member of the body.' }), {
    help: 'Members of the body that a message may set in its overrides for http.',
  }),
  ...sendLimits('64'),
  ...connectionSettings,
} satisfies Settings

/** The settings of operator.push, where messages are addressed to user ids. */
export const httpUserSettings = {
  ...httpSettings,
  user_id: text({
    help: 'The id of a user at the provider. With several brands write {{brand}}-{{user_id}}.',
    default: '{{user_id}}',
  }),
  lifetime: duration({ help: 'Time to live: an older message is not sent.', default: '24h' }),
} satisfies Settings

export type HttpSettings = ValueOf<Group<typeof httpSettings>>
export type HttpUserSettings = ValueOf<Group<typeof httpUserSettings>>
