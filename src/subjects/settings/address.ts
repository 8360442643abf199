// How an address outside is called: settings that stand beside the address, the same for every address.

import { oneOf, path, proxyUrl, text, url } from '../../base/runtime/kinds.ts'
import { type Group, type Settings, type ValueOf, variants } from '../../base/runtime/setting.ts'

export const secretText = (help: string) => text({ help, secret: true })

/** The kinds of authentication that every address accepts. */
export const authVariants = {
  header: {
    header: text({ help: 'The name of the header.', option: 'name' }),
    value: secretText('The value of the header.'),
  },
  basic: { basic: text({ help: 'The user name.', option: 'user' }), password: secretText('The password.') },
  bearer: { bearer: text({ help: 'The token.', secret: true, option: 'token' }) },
  oauth2: {
    oauth2: url({
      help: 'The address of the token endpoint, for the grant client_credentials.',
      option: 'tokenUrl',
    }),
    client_id: text({ help: 'The client id.' }),
    client_secret: secretText('The client secret.'),
    scope: text({ help: 'The scope to request.', optional: true }),
    audience: text({ help: 'The audience to request.', optional: true }),
    credentials: oneOf(['header', 'form'], {
      help: 'Whether the client credentials are sent in a header or in the form.',
      default: 'header',
    }),
  },
} satisfies Record<string, Settings>

export const authRemedy =
  'write auth: {header: X-Api-Key, value: …}, {basic: USER, password: …}, {bearer: TOKEN} or {oauth2: TOKEN_URL, client_id: …, client_secret: …}'

const section = 'Calls to other systems'
const pemFile = (help: string) => path({ section, help, readWithConfig: true, optional: true })

/** The certificates of TLS connections that this process opens. */
export const certificateSettings = {
  ca: pemFile('A PEM file of CA certificates, used instead of the certificates of the system.'),
  client_certificate: pemFile('A PEM file with the certificate that authenticates us to the server (mutual TLS).'),
  client_key: { ...pemFile('A PEM file with the key of that certificate.'), secretFile: true },
} satisfies Settings

/** The HTTP proxy of some calls. */
export const proxyOf = (help: string) => proxyUrl({ section, help, optional: true, secret: true })

/** The connection to an address. */
export const connectionSettings = {
  proxy: proxyOf('An HTTP proxy for these calls. Default: direct connections.'),
  ...certificateSettings,
} satisfies Settings

export const addressSettings = {
  auth: variants(
    {
      section,
      sections: 'Calls to other systems: authentication',
      help: 'The authentication of the calls, in addition to an API key.',
      remedy: authRemedy,
      optional: true,
    },
    authVariants,
  ),
  ...connectionSettings,
} satisfies Settings

export type AddressSettings = ValueOf<Group<typeof addressSettings>>
export type CertificateSettings = ValueOf<Group<typeof certificateSettings>>
export type ConnectionSettings = ValueOf<Group<typeof connectionSettings>>

/** The authentication as an option of the library: `kind` instead of `is`. */
export const authOptions = <A extends { readonly is: string }>({ is, ...auth }: A) =>
  ({ kind: is, ...auth }) as AuthOf<A>
type AuthOf<A> = A extends { readonly is: infer Kind } ? { readonly kind: Kind } & Omit<A, 'is'> : never
