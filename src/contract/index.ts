// The interface between an operator and a platform, as data and pure functions: nothing in this folder reads a clock, a disk or a
// network, and nothing in it imports from the rest of the project.

/** The words of the interface, and of this project. No synonyms are used for them anywhere. */
export const glossary = {
  platform: 'The engagement platform: it decides who is to be told what, and calls the operator.',
  operator: 'The party that knows the players and reaches them: it hosts {base_url}, which the platform calls.',
  brand: 'One of the names under which an operator meets its players. The same user id in two brands is two people.',
  user: 'A player of a brand, known by user_id.',
  channel: 'push (native push notifications) or site (on-site notifications).',
  activity:
    'What is set up in the platform and causes messages; also the name of the object that carries the fields of §2.1.',
  'action group': 'A part of an activity; its individual actions each send one message to a user.',
  'trigger hash': 'What tells apart the times that an activity was triggered for a user.',
  message: 'One notification for one user on one channel: an activity request record and what is beside it.',
  single: 'One message in a request (§4.1).',
  batch: 'Many messages in a request, sent when it is full or when its time span is over (§4.1 rule 3).',
  identifier:
    'push_id or site_notification_id: made by the operator, used to speak about the message afterwards (§2.2).',
  outcome: 'The result of an attempt: successful, failed or fatal.',
  successful: 'Delivered. Nothing more is done.',
  failed: 'Not delivered, and not to be tried again. Goes to Failed Actions.',
  fatal: 'Not delivered as far as is known, to be tried again.',
  absent: 'Sent in a batch and not mentioned in its answer: tried again, as fatal is (§7.2.2).',
  uncertain:
    'The request was written and no answer came, or its process died after the claim: the message may have arrived.',
  'Failed Actions': 'The service that keeps what failed, for a person to look at, dismiss or send again (§6.4).',
  lane: 'The queue of one brand and channel on the platform. A slow lane never slows another.',
  claim: 'The operator notes that it is about to deliver a message, so that nobody else does.',
  settle: 'The outcome is written down, durably, before it is answered.',
  suppress: 'Not deliver because the user is blocked, excluded, inactive or has not consented.',
  provider: 'Whatever can deliver a message: a push service, the on-site inbox, the other side of this interface.',
  device: 'Something that belongs to a user and that a push provider can reach by a token.',
  link: 'From now on this device token belongs to this user (§4.2).',
  unlink: 'From now on it does not.',
  reconciliation: 'The platform asks for all users with an attribute, to find where its own data differs (§1.3).',
  meta: 'What is returned to the platform with a status so that conversions are counted for the right message (§1.5).',
} as const

export * from './answer.ts'
export * from './content.ts'
export * from './endpoints.ts'
export * from './message-key.ts'
export * from './outcome.ts'
export * from './read-activity.ts'
export * from './records.ts'
