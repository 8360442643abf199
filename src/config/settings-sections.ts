// The sections of docs/settings.md, in the order of the page. print-table.ts writes their tables.

/** One section: a sentence, and a table of the settings whose paths match. */
export interface Section {
  readonly title: string
  readonly about: string
  /**
   * Matches whole paths; each setting belongs to exactly one section. In a path, `{fcm}` follows the setting that has the variant
   * `fcm`: 'operator.push{devices}.devices.services[]{fcm}.apps'. The group `name` is the name in the table; without it the table
   * has the whole path. Settings of one name are one row, so several places can share a section.
   */
  readonly paths: RegExp
}

const service = String.raw`operator\.push\{devices\}\.devices\.services\[\]`
const http = String.raw`(operator\.push\{http\}|${service}\{http\})`
const source = String.raw`operator\.push\{devices\}\.devices\.source`
const attributes = String.raw`operator\.attributes\[\]`

const section = (title: string, paths: string, about: string): Section => ({
  title,
  about,
  paths: new RegExp(`^(?:${paths})$`),
})

/** A chapter and its sections. */
export const chapters: Readonly<Record<string, readonly Section[]>> = {
  'Both sides': [
    section(
      'Server',
      String.raw`(operator|platform)\.(?<name>host|port|public_url|admin\.\w+|connections|connections_per_address|trusted_proxies|stop_within)`,
      'The address on which a side listens, and how it stops. `admin` separates administration from the public port.',
    ),
    section(
      'Store',
      String.raw`(operator|platform)\.(?<name>store|keep|keep_contents)`,
      'The database of a side, and how long its rows are kept. See [The store](running.md#the-store).',
    ),
    section(
      'Several databases',
      String.raw`platform\.(?<name>stores(\[\]\.(number|url|brands))?)`,
      'Several databases for the platform, each with a part of the brands. See [scaling.md](scaling.md#4-several-databases).',
    ),
    section(
      'Request bodies',
      String.raw`(operator\.limits|platform)\.(?<name>body|bodies)`,
      'Limits on the bodies that a side receives. See [Limits for callers](running.md#limits-for-callers).',
    ),
    section(
      'Keys for administration',
      String.raw`(operator\.admin_keys|platform\.keys)(\[\]\.(?<name>\w+))?`,
      'The keys of your own services, each with scopes. See [Keys](running.md#keys).',
    ),
    section(
      'Your own modules',
      String.raw`.*\{module\}\.(?<name>module|name)`,
      'Your own file can take the place of a provider, a push service, a device source or an attribute source. It exports a `Provider`, `PushService`, `DeviceSource` or `AttributeSource`.',
    ),
    section(
      'Calls to other systems',
      String.raw`.*\.(?<name>auth|proxy|ca|client_certificate|client_key)`,
      'Every address has these settings, beside it. See [Calls to other systems](running.md#calls-to-other-systems).',
    ),
    section(
      'Calls to other systems: authentication',
      String.raw`.*\.auth\{\w+\}\.(?<name>\w+)`,
      'The variants of `auth`. `none` and `standard_webhooks` are for providers over HTTP.',
    ),
    section('Log', String.raw`log\.(?<name>\w+)`, 'The log is written to standard output.'),
    section(
      'Accepted risks',
      'accept_risks',
      'An insecure configuration is refused unless its risk is listed. See [Refused configurations](running.md#refused-configurations).',
    ),
  ],

  "The operator's side": [
    section(
      'Keys of the platform',
      String.raw`operator\.(?<name>keys(\[\]\.(\w+|rate\.\w+))?)`,
      'The platform sends one of these keys with each request. See [Keys](running.md#keys).',
    ),
    section(
      'Push messages',
      String.raw`operator\.push(\{recording\}\.(?<name>file))?`,
      '[push.md](push.md) explains how to choose a provider. `devices` sends to the devices of each user, `http` to user ids, and `recording` only writes a file.',
    ),
    section(
      'Push to devices',
      String.raw`operator\.push\{devices\}\.devices\.(?<name>source|services(\[\])?|lifetime|(unregistered_targets|removals)\.\w+)`,
      'Each message goes to all devices of its user. `unregistered_targets` is for messages that name a token which was never linked; without it they are refused. `removals` limits the automatic unlinks of dead devices: beyond it, unlinking stops until a person confirms.',
    ),
    section(
      'Presentation on devices',
      String.raw`operator\.push\{devices\}\.devices\.(?<name>presentation(\[\]\.\w+)?)`,
      'Sound, badge, Android channel and other fields that the platform does not send. See [Presentation](push.md#presentation).',
    ),
    section(
      'Device source: your database',
      String.raw`${source}\{sql\}\.(?<name>\w+)`,
      'Your own table of devices. See [Tokens that you keep elsewhere](devices.md#tokens-that-you-keep-elsewhere).',
    ),
    section(
      'Device source: your endpoint',
      String.raw`${source}\{http\}\.(?<name>http|holders|timeout)`,
      'Your own endpoint for devices. See [Tokens that you keep elsewhere](devices.md#tokens-that-you-keep-elsewhere).',
    ),
    section(
      'Every push service',
      String.raw`(${service}\{[\w-]+\}|operator\.push\{http\})\.(?<name>brands|per_second|concurrency)`,
      'Each push service has these settings in addition to its own, which are in the next sections.',
    ),
    section(
      'FCM',
      String.raw`${service}\{fcm\}\.(?<name>name|credentials|credentials_json|apps|testing\.\w+)`,
      'Android, and apps with the Firebase SDK. See [FCM](push.md#fcm).',
    ),
    section(
      'APNs',
      String.raw`${service}\{apns\}\.(?<name>name|key|key_\w+|team_id|topic|apps|environments|testing\.\w+)`,
      'iOS and macOS. See [APNs](push.md#apns).',
    ),
    section(
      'Web Push',
      String.raw`${service}\{web-push\}\.(?<name>name|public_key|private_key|subject|apps|hosts|testing\.origins(\[\]\.\w+)?)`,
      'Browsers. See [Web Push](push.md#web-push).',
    ),
    section(
      'Any other provider over HTTP',
      String.raw`${http}\.(?<name>preset|name|url|body|rules|id|overrides|user_id|lifetime|(secrets|headers)(\[\]\.\w+)?)`,
      'A provider whose HTTP API you describe. `operator.push` sends to user ids, `services` to devices. See [Any other provider, per user](push.md#any-other-provider-per-user).',
    ),
    section(
      'HTTP provider: rules',
      String.raw`${http}\.rules\[\]\.(?<name>[\w.]+)`,
      'The meaning of an answer of the provider. All conditions in `when` must hold.',
    ),
    section(
      'On-site messages',
      String.raw`operator\.site`,
      '`inbox` stores the notifications, lists them and streams them to pages.',
    ),
    section(
      'Content of a message',
      String.raw`operator\.content\.(?<name>\w+)`,
      'The positions of the content within a request element, as JSON Pointers. See [Content](push.md#content).',
    ),
    section(
      'User attributes',
      String.raw`operator\.attributes(\[\](\{\w+\}\.(?<name>brands))?)?`,
      'The sources that say who is blocked, excluded, active or consenting. See [Attribute sources](attributes.md#attribute-sources).',
    ),
    section(
      'User attributes: a file',
      String.raw`${attributes}\{file\}\.(?<name>file|brand)`,
      'A CSV or NDJSON file, read again when it changes. See [A file](attributes.md#a-file).',
    ),
    section(
      'User attributes: your database',
      String.raw`${attributes}\{sql\}\.(?<name>sql|as_of|max_lag|queries\.\w+)`,
      'One query for each field that you have. See [Your database](attributes.md#your-database).',
    ),
    section(
      'User attributes: your endpoint',
      String.raw`${attributes}\{http\}\.(?<name>http|fields)`,
      'An endpoint that answers look-ups and lists. See [Your own endpoint](attributes.md#your-own-endpoint).',
    ),
    section(
      'Suppression',
      String.raw`operator\.suppression(\{attributes\}\.(?<name>[\w.]+))?`,
      'The check before every send. See [attributes.md](attributes.md).',
    ),
    section(
      'Your pages and apps',
      String.raw`operator\.app\.(?<name>\w+)`,
      'The API under `/app`: the inbox and the devices of one user. Without `operator.app` it is not served.',
    ),
    section(
      'Devices of one user',
      String.raw`(operator\.device_limits\.(?<name>\w+)|platform\.devices_per_user)`,
      'Limits on the devices of one user, on both sides. Beyond a limit, the device with the oldest link is unlinked.',
    ),
    section(
      'Work in progress',
      String.raw`operator\.limits\.(?<name>batch|answer_budget|in_progress|provider_\w+)`,
      'Limits on batches and on concurrent work. See [Several processes](scaling.md#3-several-processes).',
    ),
    section(
      'Publishing device links',
      String.raw`operator\.(?<name>publish(\[\]\.(brand|to|providers|origin|timeout))?)`,
      'Where the platform receives the links and unlinks. See [Publish links to the platform](devices.md#publish-links-to-the-platform).',
    ),
    section(
      'Delivery status',
      String.raw`operator\.status\.(?<name>polling|receipts|webhooks(\[\]\.(brand|to|timeout))?)`,
      'The delivery statuses of messages, for the platform. See [status.md](status.md). Without `operator.status` no statuses are recorded.',
    ),
    section(
      'Delivery status: receipts of providers',
      String.raw`operator\.status\.(?<name>receipts_from(\[\]\.(\w+|rules\[\]\.\w+))?)`,
      'A provider calls `POST /receipts/NAME` of the operator with its events. See [Receipts of providers](status.md#receipts-of-providers).',
    ),
    section(
      'Delivery status: webhook',
      String.raw`operator\.status\.webhooks\[\]\.to\{webhook\}\.(?<name>(webhook|secrets|api_key|max|connections)(\[\])?)`,
      'Signed calls to the platform. See [Webhook](status.md#webhook).',
    ),
    section(
      'Delivery status: calls of another form',
      String.raw`operator\.status\.webhooks\[\]\.to\{template\}\.(?<name>template|method|body|channel|connections|(secrets|headers|statuses|rules)(\[\]\.[\w.]+(\[\])?)?)`,
      'A call has the settings of an HTTP provider, such as `auth` and `rules`. See [Calls of another form](status.md#calls-of-another-form).',
    ),
    section(
      "Delivery status: the vendor's callback",
      String.raw`operator\.status\.webhooks\[\]\.to\{callback\}\.(?<name>callback|connections)`,
      "For a platform that knows only the vendor's own form. See [The vendor's callback](status.md#the-vendors-callback).",
    ),
  ],

  "The platform's side": [
    section(
      'Lanes',
      String.raw`platform\.(?<name>lanes(\[\]\.(brand|channel|profile|to|mode|max|bytes|span|concurrency|per_second|timeout|failed_actions))?)`,
      'One lane for each brand and channel: a slow operator does not delay another.',
    ),
    section(
      'A lane: expiry',
      String.raw`platform\.lanes\[\]\.expires\.(?<name>\w+)`,
      'The time after which a message is not sent. See [Messages that expire](sending.md#messages-that-expire-and-messages-that-are-sent-first).',
    ),
    section(
      'A lane: transactional messages',
      String.raw`platform\.lanes\[\]\.transactional\.(?<name>[\w[\]]+)`,
      'The messages that are sent before all others of the lane. One of these conditions is enough.',
    ),
    section(
      'Delivery status',
      String.raw`platform\.lanes\[\]\.status\.(?<name>[\w[\]]+)`,
      'The statuses that the operator of a lane reports: delivered, displayed, clicked. See [The platform](status.md#the-platform).',
    ),
    section(
      'Calls to an operator',
      String.raw`platform\.lanes\[\]\.to\{operator-api\}\.(?<name>url|api_key)`,
      'The platform calls the endpoints of the operator at this address.',
    ),
    section(
      'Delivery without an operator',
      String.raw`platform\.own\.(?<name>push|site|suppression)`,
      'For lanes with `to: own`. Beneath `push`, `site`, `app`, `content` and `limits`, and the two receipts of `status`, are the same settings as under `operator`: `platform.own.push.devices.services` is described as `operator.push.devices.services`. See [own-delivery.md](own-delivery.md).',
    ),
    section(
      'Delivery without an operator: suppression',
      String.raw`platform\.own\.suppression\{crm\}\.(?<name>[\w.]+)`,
      "The check before every send, by the CRM's attributes. See [attributes.md](attributes.md).",
    ),
    section(
      'Records from brokers',
      String.raw`platform\.(?<name>intake(\[\]\.(from|channel|brands))?)`,
      'Queues and topics, in addition to `POST /admin/activities/CHANNEL`. See [sending.md](sending.md).',
    ),
    section(
      'Consuming device links',
      String.raw`platform\.(?<name>device_links(\[\]\.(brand|from|origins(\[\]\.\w+)?))?)`,
      'Queues and topics, in addition to the two HTTP endpoints, which are always served. See [At the platform](devices.md#at-the-platform).',
    ),
    section(
      'Reconciliation',
      String.raw`platform\.(?<name>reconciliation(\[\]\.(brand|url|api_key|fields|every|grace))?)`,
      'The lists that are compared with the CRM. See [reconciliation.md](reconciliation.md).',
    ),
    section(
      'Reconciliation: limits',
      String.raw`platform\.reconciliation\[\]\.limits\.(?<name>\w+)`,
      'A list beyond a limit is refused as a whole. See [Refused answers](reconciliation.md#refused-answers).',
    ),
  ],

  'Channels and retries': [
    section(
      'Device links over REST',
      String.raw`operator\.publish\[\]\.to\{rest\}\.(?<name>rest|api_key|connections)`,
      "Calls to the platform's two endpoints.",
    ),
    section(
      'AMQP',
      String.raw`(operator\.publish\[\]\.to|platform\.(device_links|intake)\[\]\.from)\{amqp\}\.(?<name>\w+)`,
      'The operator publishes device links to an exchange; the platform consumes queues of device links and of records.',
    ),
    section(
      'Kafka',
      String.raw`(operator\.publish\[\]\.to|platform\.(device_links|intake)\[\]\.from)\{kafka\}\.(?<name>\w+)`,
      'The operator publishes device links to a topic; the platform consumes topics of device links and of records. Needs `npm install @platformatic/kafka@2`.',
    ),
    section(
      'Retries',
      String.raw`(operator\.publish|operator\.status\.webhooks|platform\.lanes)\[\]\.retry\.(?<name>\w+)`,
      'The backoff between the attempts of one call.',
    ),
  ],
}
