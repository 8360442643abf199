// The registry of reasons: why a message is not successful. A code never changes its meaning. docs/reasons.md has this table.

interface Described {
  readonly says: string
  readonly remedy: string
}

export const reasons = {
  invalid: { says: 'The message itself is malformed.', remedy: 'Correct the content, and send it as a new message.' },
  suppressed: {
    says: 'The user is blocked, excluded or inactive, or has not consented.',
    remedy: 'None. The message must not be sent.',
  },
  no_device: { says: 'No device of the user can be reached.', remedy: 'Link a device of the user.' },
  too_large: { says: 'The message is larger than the other side accepts.', remedy: 'Shorten its texts or data.' },
  rejected: {
    says: 'The other side refused this message.',
    remedy: 'Read `error` and the stored answer. Remove the cause at the other side, and replay the message.',
  },
  expired: {
    says: 'The lifetime of the message is over.',
    remedy: 'Find the cause of the delay, or configure a longer lifetime.',
  },
  given_up: {
    says: 'The message was still *fatal* after the last attempt that the lane allows.',
    remedy: 'Read `error`, remove the cause, and replay the message.',
  },
  absent: {
    says: 'The answer to the batch does not contain the message (§7.2.2).',
    remedy: 'None. It is retried. If it persists, ask the operator.',
  },
  nonsense: {
    says: 'The answer of the other side cannot be read.',
    remedy: 'Check the address, and proxies in between.',
  },
  overloaded: {
    says: 'Too many messages are in progress.',
    remedy: 'None. It is retried. If it persists, add capacity.',
  },
  rate_limited: {
    says: 'The other side asks for fewer requests.',
    remedy: 'None. It is retried. If it persists, ask the other side for a higher limit.',
  },
  unavailable: {
    says: 'The other side, or the store, does not work now.',
    remedy: 'None. It is retried. If it persists, check the other side and the network.',
  },
  timeout: {
    says: 'No answer came in time.',
    remedy: 'None. It is retried. If it persists, raise the time limit or the concurrency.',
  },
  misconfigured: {
    says: 'A setting or a credential of ours is wrong.',
    remedy: 'Correct the configuration. `bellwire doctor` names the fault.',
  },
  source_down: {
    says: 'The source of attributes or devices cannot answer.',
    remedy: 'None. It is retried. If it persists, repair the source.',
  },
  stopping: { says: 'The process is stopping.', remedy: 'None. It is retried.' },
  cancelled: {
    says: 'A person cancelled the message while it waited.',
    remedy: 'None. Replay it if it must be sent after all.',
  },
  paused: {
    says: 'A person paused the lane, the brand, the activity or the action.',
    remedy: 'Resume it: `bellwire lanes` shows who paused it and why.',
  },
  in_flight: { says: 'Another process is sending the same message.', remedy: 'None. It is retried.' },
} as const satisfies Record<string, Described>

/** The reason why a message is not successful, as a code for programs. */
export type Reason = keyof typeof reasons
