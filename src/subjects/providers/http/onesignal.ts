import type { Preset } from './description.ts'

/**
 * OneSignal identifies the operator's users by their external id, so no devices need to be registered with Bellwire. The preset
 * needs the secrets `app_id` and `api_key`.
 *
 * An answer of 200 with an empty id means that nothing was sent: OneSignal does not know the user, or the user has no
 * subscription. The idempotency key makes a retry after a lost answer harmless.
 */
export const onesignal: Preset = {
  name: 'onesignal',
  url: 'https://api.onesignal.com/notifications',
  auth: { kind: 'header', name: 'authorization', value: 'Key {{secret.api_key}}' },
  body: {
    app_id: '{{secret.app_id}}',
    target_channel: 'push',
    include_aliases: { external_id: ['{{user_id}}'] },
    idempotency_key: '{{push_id}}',
    collapse_id: '{{push_id}}',
    headings: { en: '{{title}}' },
    contents: { en: '{{body}}' },
    url: '{{url}}',
    big_picture: '{{image_url}}',
    chrome_web_image: '{{image_url}}',
    ios_attachments: { image: '{{image_url}}' },
    data: '{{data}}',
    ttl: '{{ttl_seconds}}',
  },
  rules: [
    { when: { status: 200, body_path: '/id', exists: true }, means: 'successful' },
    {
      when: { status: 200, body_path: '/errors/invalid_aliases', exists: true },
      means: 'gone',
      reason: 'OneSignal has no user with this external id: call OneSignal.login(user id) in the app',
    },
    {
      when: { status: 200, body_path: '/errors', exists: true },
      means: 'gone',
      reason: 'OneSignal sent nothing: the user has no subscription',
    },
    { when: { status: 200 }, means: 'gone', reason: 'OneSignal answered without an id: it sent nothing' },
    {
      when: { status: 400, body_path: '/errors', matches: 'app_id|[Aa]pp not found' },
      means: 'misconfigured',
      reason: 'OneSignal does not know the app: check the secret app_id',
    },
  ],
  id: '/id',
}
