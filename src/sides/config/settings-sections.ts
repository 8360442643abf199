// The sections of docs/settings.md, in the order of the page: the title, and a sentence. A setting names its section by `section`.

/** The chapters with their sections. */
export const chapters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Both sides': {
    Server:
      'The address on which a side listens, and how it stops. `admin` separates administration from the public port.',
    Store: 'The database of a side, and how long its rows are kept. See [The store](running.md#the-store).',
    'Several databases':
      'Several databases for the platform, each with a part of the brands. See [scaling.md](scaling.md#4-several-databases).',
    'Request bodies':
      'Limits on the bodies that a side receives. See [Limits for callers](running.md#limits-for-callers).',
    'Keys for administration': 'The keys of your own services, each with scopes. See [Keys](running.md#keys).',
    Console: 'Sign-in to the console without a key. See [Sign in without a key](console.md#sign-in-without-a-key).',
    'Your own modules':
      'Your own file can take the place of a provider, a push service, a device source or an attribute source. It exports a `Provider`, `PushService`, `DeviceSource` or `AttributeSource`.',
    'Calls to other systems':
      'Every address has these settings, beside it. See [Calls to other systems](running.md#calls-to-other-systems).',
    'Calls to other systems: authentication':
      'The variants of `auth`. `none` and `standard_webhooks` are for providers over HTTP.',
    Alerts: 'Messages to a person when a trouble begins and when it ends. See [Alerts](monitoring.md#alerts).',
    Log: 'The log is written to standard output.',
    'Accepted risks':
      'An insecure configuration is refused unless its risk is listed. See [Refused configurations](running.md#refused-configurations).',
  },
  "The operator's side": {
    'Keys of the platform': 'The platform sends one of these keys with each request. See [Keys](running.md#keys).',
    'Push messages':
      '[push.md](push.md) explains how to choose a provider. `devices` sends to the devices of each user, `http` to user ids, and `recording` only writes a file.',
    'Push to devices':
      'Each message goes to all devices of its user. `unregistered_targets` is for messages that name a token which was never linked; without it they are refused. `removals` limits the automatic unlinks of dead devices: beyond it, unlinking stops until a person confirms.',
    'Presentation on devices':
      'Sound, badge, Android channel and other fields that the platform does not send. See [Presentation](push.md#presentation).',
    'Device source: your database':
      'Your own table of devices. See [Tokens that you keep elsewhere](devices.md#tokens-that-you-keep-elsewhere).',
    'Device source: your endpoint':
      'Your own endpoint for devices. See [Tokens that you keep elsewhere](devices.md#tokens-that-you-keep-elsewhere).',
    'Every push service':
      'Each push service has these settings in addition to its own, which are in the next sections.',
    FCM: 'Android, and apps with the Firebase SDK. See [FCM](push.md#fcm).',
    APNs: 'iOS and macOS. See [APNs](push.md#apns).',
    'Web Push': 'Browsers. See [Web Push](push.md#web-push).',
    'Any other provider over HTTP':
      'A provider whose HTTP API you describe. `operator.push` sends to user ids, `services` to devices. See [Any other provider, per user](push.md#any-other-provider-per-user).',
    'HTTP provider: rules': 'The meaning of an answer of the provider. All conditions in `when` must hold.',
    'On-site messages': '`inbox` stores the notifications, lists them and streams them to pages.',
    'Content of a message':
      'The positions of the content within a request element, as JSON Pointers. See [Content](push.md#content).',
    'User attributes':
      'The sources that say who is blocked, excluded, active or consenting. See [Attribute sources](attributes.md#attribute-sources).',
    'User attributes: a file': 'A CSV or NDJSON file, read again when it changes. See [A file](attributes.md#a-file).',
    'User attributes: your database':
      'One query for each field that you have. See [Your database](attributes.md#your-database).',
    'User attributes: your endpoint':
      'An endpoint that answers look-ups and lists. See [Your own endpoint](attributes.md#your-own-endpoint).',
    Suppression: 'The check before every send. See [attributes.md](attributes.md).',
    'Your pages and apps':
      'The API under `/app`: the inbox and the devices of one user. Without `operator.app` it is not served.',
    'Devices of one user':
      'Limits on the devices of one user, on both sides. Beyond a limit, the device with the oldest link is unlinked.',
    'Work in progress':
      'Limits on batches and on concurrent work. See [Several processes](scaling.md#3-several-processes).',
    'Publishing device links':
      'Where the platform receives the links and unlinks. See [Publish links to the platform](devices.md#publish-links-to-the-platform).',
    'Delivery status':
      'The delivery statuses of messages, for the platform. See [status.md](status.md). Without `operator.status` no statuses are recorded.',
    'Delivery status: receipts of providers':
      'A provider calls `POST /receipts/NAME` of the operator with its events. See [Receipts of providers](status.md#receipts-of-providers).',
    'Delivery status: webhook': 'Signed calls to the platform. See [Webhook](status.md#webhook).',
    'Delivery status: calls of another form':
      'A call has the settings of an HTTP provider, such as `auth` and `rules`. See [Calls of another form](status.md#calls-of-another-form).',
    "Delivery status: the vendor's callback":
      "For a platform that knows only the vendor's own form. See [The vendor's callback](status.md#the-vendors-callback).",
  },
  "The platform's side": {
    Lanes: 'One lane for each brand and channel: a slow operator does not delay another.',
    'A lane: expiry':
      'The time after which a message is not sent. See [Messages that expire](sending.md#messages-that-expire-and-messages-that-are-sent-first).',
    'A lane: transactional messages':
      'The messages that are sent before all others of the lane. One of these conditions is enough.',
    'Delivery status of a lane':
      'The statuses that the operator of a lane reports: delivered, displayed, clicked. See [The platform](status.md#the-platform).',
    'Calls to an operator': 'The platform calls the endpoints of the operator at this address.',
    'Delivery without an operator':
      'For lanes with `to: own`. Beneath `push`, `site`, `app`, `content` and `limits`, and the two receipts of `status`, are the same settings as under `operator`: `platform.own.push.devices.services` is described as `operator.push.devices.services`. See [own-delivery.md](own-delivery.md).',
    'Delivery without an operator: suppression':
      "The check before every send, by the CRM's attributes. See [attributes.md](attributes.md).",
    'Records from brokers':
      'Queues and topics, in addition to `POST /admin/activities/CHANNEL`. See [sending.md](sending.md).',
    'Consuming device links':
      'Queues and topics, in addition to the two HTTP endpoints, which are always served. See [At the platform](devices.md#at-the-platform).',
    Reconciliation: 'The lists that are compared with the CRM. See [reconciliation.md](reconciliation.md).',
    'Reconciliation: limits':
      'A list beyond a limit is refused as a whole. See [Refused answers](reconciliation.md#refused-answers).',
  },
  'Channels and retries': {
    'Device links over REST': "Calls to the platform's two endpoints.",
    AMQP: 'The operator publishes device links to an exchange; the platform consumes queues of device links and of records.',
    Kafka:
      'The operator publishes device links to a topic; the platform consumes topics of device links and of records. Needs `npm install @platformatic/kafka@2`.',
    Retries: 'The backoff between the attempts of one call.',
  },
}
