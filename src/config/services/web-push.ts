// The settings of a web-push service.

import { judgeRules } from '../../providers/web-push/judge-endpoint.ts'
import { judgeSubject } from '../../providers/web-push/vapid.ts'
import { integer, kind, origin, text } from '../kinds.ts'
import { type Group, group, list, type ValueOf } from '../setting.ts'

const makeKeys = 'make a pair with: bellwire vapid'

const publicKey = kind('a VAPID public key, 87 characters of base64url', (text) =>
  /^[A-Za-z0-9_-]{87}$/.test(text) ? text : undefined,
)
const privateKey = kind('a VAPID private key, 43 characters of base64url', (text) =>
  /^[A-Za-z0-9_-]{43}$/.test(text) ? text : undefined,
)
const vapidSubject = kind('an address such as mailto:ops@example.com or https://www.example.com', (text) =>
  judgeSubject(text) === undefined ? text : undefined,
)
const pushHost = kind('a host such as push.example.com, *.push.example.com or push.example.com:8443', (text) =>
  judgeRules({ hosts: [text] }).length === 0 ? text : undefined,
)

export const webPushSettings = {
  name: text({ says: 'What the log, metrics and records call it.', default: 'web-push' }),
  public_key: publicKey({ says: 'The public key that the site subscribes with.', remedy: makeKeys }),
  private_key: privateKey({ says: 'The private key that belongs to it.', secret: true, remedy: makeKeys }),
  subject: vapidSubject({ says: 'Whom a push service may turn to when something is wrong with our messages.' }),
  apps: list(text({ says: 'An app, as the devices say it.' }), {
    says: 'Only the devices of these apps, where several sites have keys of their own; left out: all.',
    optional: true,
    least: 1,
  }),
  hosts: list(pushHost({ says: 'A host.' }), {
    says: 'Hosts of push services beside those of the known browsers. They are reached over https, and never at an address inside.',
  }),
  origins: list(
    group(
      { says: 'One origin.' },
      {
        from: origin({ says: 'The origin as subscriptions have it.' }),
        to: origin({ says: 'The origin that is sent to instead.' }),
      },
    ),
    {
      says: 'Origins that are served elsewhere, by a stand-in: only these may lead inside this machine or its network.',
    },
  ),
  concurrency: integer(1, 10_000)({ says: 'Most messages under way at a time.', default: '100' }),
}

export type WebPushConfig = ValueOf<Group<typeof webPushSettings>>
