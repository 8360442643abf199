// The settings of a Web Push service, with one VAPID key pair.

import { kind, origin, text } from '../../../base/runtime/kinds.ts'
import { type Group, list, rows, type ValueOf } from '../../../base/runtime/setting.ts'
import { judgeRules } from '../../providers/web-push/judge-endpoint.ts'
import { judgeSubject } from '../../providers/web-push/vapid.ts'
import { certificateSettings, proxyOf } from '../address.ts'
import { sendLimits, someOf, testing } from '../shared.ts'

const makeKeys = 'make a pair with: bellwire vapid'

const publicKey = kind('a VAPID public key, 87 characters of base64url', (text) =>
  /^[A-Za-z0-9_-]{87}$/.test(text) ? text : undefined,
)
const privateKey = kind('a VAPID private key, 43 characters of base64url', (text) =>
  /^[A-Za-z0-9_-]{43}$/.test(text) ? text : undefined,
)
const vapidSubject = kind(
  'one address at a public domain, such as mailto:ops@example.com or https://www.example.com',
  (text) => (judgeSubject(text) === undefined ? text : undefined),
)
const pushHost = kind('a host such as push.example.com, *.push.example.com or push.example.com:8443', (text) =>
  judgeRules({ hosts: [text] }).length === 0 ? text : undefined,
)

export const webPushSettings = {
  name: text({ help: 'The name of the push service, in logs and alerts.', default: 'web-push' }),
  public_key: publicKey({ help: 'The VAPID public key with which the site subscribes.', remedy: makeKeys }),
  private_key: privateKey({ help: 'The VAPID private key.', secret: true, remedy: makeKeys }),
  subject: vapidSubject({ help: 'The contact address for push services, in case of problems with our messages.' }),
  apps: someOf(
    text({ help: 'The app of a device.' }),
    'The apps whose devices it reaches, if several sites have their own keys. Default: all.',
  ),
  hosts: list(pushHost({ help: 'A host.' }), {
    help: 'Hosts of further push services, in addition to those of the known browsers.',
  }),
  testing: testing({
    origins: rows('Origins to redirect, for a stand-in. Only these may lead to this machine or a private network.', {
      from: origin({ help: 'The origin in subscriptions.' }),
      to: origin({ help: 'The origin that is called instead.' }),
    }),
  }),
  ...sendLimits('100'),
  ca: certificateSettings.ca,
  proxy: proxyOf(
    'An HTTP proxy. It resolves the hosts of the services, so it must refuse internal addresses. Default: direct connections.',
  ),
}

export type WebPushConfig = ValueOf<Group<typeof webPushSettings>>
