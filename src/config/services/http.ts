// The settings of the general HTTP provider: of operator.push, and of a push service for devices of the kind http:NAME.

import { defaultRules } from '../../providers/http/rules.ts'
import { hidden } from '../address.ts'
import { duration, integer, kind, oneOf, path, pointer, text, yesNo } from '../kinds.ts'
import { group, json, list, type Settings, type ValueOf, variants } from '../setting.ts'

/** A header may be a credential: printed only where it takes its secret from elsewhere. */
const headerValue = kind('a text', (text) => text, {
  write: (value) => (value.includes('{{secret.') ? value : hidden),
})

const secretText = (says: string) => text({ says, secret: true })

const auth = variants(
  {
    says: 'How requests say who sends them.',
    remedy:
      'write auth: {header: X-Api-Key, value: …}, {basic: USER, password: …}, {bearer: TOKEN}, {oauth2: TOKEN_URL, client_id: …, client_secret: …}, {standard_webhooks: whsec_…} or none',
    optional: true,
  },
  {
    none: {},
    header: { header: text({ says: 'The name of the header.' }), value: secretText('Its value.') },
    basic: { basic: text({ says: 'The user.' }), password: secretText('The password.') },
    bearer: { bearer: secretText('The token.') },
    oauth2: {
      oauth2: text({ says: 'The address of the token endpoint, for the grant client_credentials.', called: true }),
      client_id: text({ says: 'The name of the client.' }),
      client_secret: secretText("The client's secret."),
      scope: text({ says: 'The scope to ask for.', optional: true }),
      audience: text({ says: 'The audience to ask for.', optional: true }),
      credentials: oneOf(
        'header',
        'form',
      )({ says: 'Where the name and the secret of the client go.', default: 'header' }),
    },
    standard_webhooks: {
      standard_webhooks: secretText('Signs by the Standard Webhooks specification: whsec_ and base64.'),
    },
  },
)

const rule = group(
  { says: 'One rule.' },
  {
    when: group(
      { says: 'Which answers it is about: all that is written has to be true.' },
      {
        status: list(text({ says: 'A status.' }), {
          says: 'The status: 404, 4xx, or a list of them.',
          optional: true,
          orOne: true,
        }),
        body_path: pointer({ says: 'Where to look in the JSON answer.', optional: true }),
        equals: text({ says: 'What is there, as text.', optional: true }),
        matches: text({ says: 'A regular expression that it fits.', optional: true }),
        exists: yesNo({ says: 'Something is there, neither null nor empty.', optional: true }),
        absent: yesNo({ says: 'Nothing is there, or null, or something empty.', optional: true }),
      },
    ),
    means: oneOf(
      'successful',
      'failed',
      'fatal',
      'gone',
      'mismatch',
      'misconfigured',
    )({
      says: 'gone: the user or the device is not known there any more. misconfigured: our settings are wrong, sending pauses.',
    }),
    reason: text({ says: 'For people: what it means and how to mend it.', optional: true }),
  },
)

/** For a service of devices; `operator.push` has more. */
export const httpSettings = {
  preset: oneOf(
    'onesignal',
    'none',
  )({ says: 'Begin with what is known about this provider (docs/push.md).', default: 'none' }),
  name: text({ says: 'For logs and metrics; per device the NAME of the kind http:NAME.', optional: true }),
  url: text({
    says: 'Where requests are POSTed; {{placeholders}} in path and query.',
    optional: true,
    called: true,
  }),
  secrets: list(
    group(
      { says: 'One secret.' },
      { name: text({ says: 'Its name: {{secret.NAME}}.' }), value: secretText('The secret.') },
    ),
    { says: 'Texts for templates that are never shown.' },
  ),
  auth,
  headers: list(
    group(
      { says: 'One header.' },
      {
        name: text({ says: 'Its name.' }),
        value: headerValue({ says: 'Its value, a template. For secrets: {{secret.NAME}}.' }),
      },
    ),
    { says: 'Further headers.' },
  ),
  body: json({ says: 'The JSON that is sent: YAML whose texts may hold {{placeholders}}.', optional: true }),
  rules: list(rule, {
    says: `What answers mean; the first that fits decides. After them: ${defaultRules.length} rules for what statuses mean by themselves.`,
  }),
  id: pointer({ says: "Where the provider's own identifier stands in its answer.", optional: true }),
  overrides: list(text({ says: 'A member of the body.' }), {
    says: 'Members of the body that a message may set itself, by its overrides for http.',
  }),
  concurrency: integer(1, 10_000)({ says: 'Most requests at a time.', default: '64' }),
  ca: path({ says: 'A certificate authority of your own, as a PEM file.', optional: true }),
} satisfies Settings

/** For operator.push: messages go to users, by their ids. */
export const httpUserSettings = {
  ...httpSettings,
  user_id: text({
    says: 'How the provider knows a user. With several brands: {{brand}}-{{user_id}}, as two brands may have the same ids.',
    default: '{{user_id}}',
  }),
  lifetime: duration({ says: 'A message is not sent after that.', default: '24h' }),
} satisfies Settings

type Of<S extends Settings> = { [K in keyof S as S[K] extends { optional: true } ? never : K]: ValueOf<S[K]> } & {
  [K in keyof S as S[K] extends { optional: true } ? K : never]?: ValueOf<S[K]>
}
export type HttpSettings = Of<typeof httpSettings>
export type HttpUserSettings = Of<typeof httpUserSettings>
