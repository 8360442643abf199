// operator.console and platform.console.

import { allScopes } from '../../base/http/access.ts'
import { baseUrl, brand, kind, oneOf, text, url } from '../../base/runtime/kinds.ts'
import { group, list, rows, type ValueOf } from '../../base/runtime/setting.ts'
import { someOf } from './shared.ts'

const headerName = kind('the name of a header, such as X-Forwarded-User', (name) =>
  /^[A-Za-z0-9-]+$/.test(name) ? name.toLowerCase() : undefined,
)

export const consoleSignIn = group(
  'Console',
  {
    people: rows(
      'People with sign-in by `oidc` or `proxy_header`, without a key.',
      {
        name: text({ help: 'The name that the provider or the proxy gives, such as anna@example.com.' }),
        scopes: list(oneOf(allScopes, { help: 'A scope.' }), { help: 'The scopes of the person.', minItems: 1 }),
        brands: someOf(brand({ help: 'A brand.' }), 'The brands that the person may access. Default: all.'),
      },
      { optional: true, minItems: 1, remedy: 'add the people who may sign in, each with scopes' },
    ),
    other_side: group(
      '',
      {
        url: baseUrl({ help: 'The address of /admin of the other side.' }),
        api_key: text({ help: 'A key for it with the scope `read`. Browsers never get it.', secret: true }),
      },
      { optional: true },
    ),
    proxy_header: headerName({
      help: 'The header in which a proxy of `trusted_proxies` names the person that it authenticated.',
      optional: true,
    }),
    oidc: group(
      '',
      {
        issuer: url({ help: 'The issuer of the OpenID provider.' }),
        client_id: text({ help: 'The client id.' }),
        client_secret: text({ help: 'The client secret.', secret: true }),
        claim: text({
          help: 'The claim that is the name of the person. An unverified email is refused.',
          default: 'email',
        }),
      },
      { optional: true },
    ),
  },
  { optional: true },
)

export type ConsoleSignIn = ValueOf<typeof consoleSignIn>
