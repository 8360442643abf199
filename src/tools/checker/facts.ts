// The facts about an operator or a platform that the checker cannot find out: a person prepares and states them.

import type { Json } from '../../base/runtime/json.ts'
import type { ReconciliationField } from '../../contract/records.ts'

/** The users to whom messages may be sent. No other user is messaged. */
export interface NamedUsers {
  /** Receives messages on all channels: not blocked, with consent, with a device. */
  readonly normal: string
  /** Must not receive messages. */
  readonly blocked?: string
  /** Has no device, so that no push can reach the user. */
  readonly withoutDevice?: string
  /** Another user of the platform, to whom a device is moved. */
  readonly other?: string
}

export type UserName = keyof NamedUsers

/** Lengths of time, in milliseconds. */
export interface Pace {
  /** The longest wait for an answer. */
  readonly timeout: number
  /** How long a slow writer and a slow reader take, and the pause within a list for a platform. */
  readonly slow: number
  /** How long the checker waits until it gives up on an answer on purpose, or repeats a message that is in flight. */
  readonly giveUp: number
  /** The pause before a message is repeated after a fatal outcome. */
  readonly retryPause: number
  /** How long a message is repeated, and how long an operator that cannot be reached is waited for. */
  readonly patience: number
  /** How long the checker waits for a platform's wrong repetition. */
  readonly quiet: number
}

/** A message broker over which the checker publishes links of devices, as an operator. */
export interface LinkChannel {
  /** 'RabbitMQ', 'Kafka'. */
  readonly name: string
  /** @returns undefined if the event was accepted, otherwise the reason */
  publish(what: 'link' | 'unlink', userId: string, body: string): Promise<string | undefined>
  /** A message-queue broker: publishes a link whose header `type` is that of an unlink (§4.3 rule 1). */
  linkWithHeader?(userId: string, body: string): Promise<string | undefined>
  close(): Promise<void>
}

/** The endpoints that the platform hosts (§4.2, §6.2). */
export interface PlatformEndpoints {
  /** {platform_url} */
  readonly url: string
  /** The API key of links and unlinks. */
  readonly linkKey?: string
  /** The secret with which the operator signs statuses: whsec_… */
  readonly statusSecret?: string
}

export interface Facts {
  /** Digits. */
  readonly brand: string
  readonly users: NamedUsers
  /** Values of fields that are known: by user, by field. */
  readonly known: Readonly<Record<string, Partial<Readonly<Record<ReconciliationField, boolean>>>>>
  /** The content and the target of the messages, beside `activity`. */
  readonly content: Readonly<Record<string, Json>>
  /** The number of messages in the largest batch that is sent. */
  readonly batchMax: number
  /** Whether that is the maximum that the operator announced (§1.6), or only the checker's default. */
  readonly batchMaxAgreed: boolean
  /** The fields that the operator can list; undefined: the fields that it answers with a list. */
  readonly fields?: readonly ReconciliationField[]
  /** A field whose list fails while it is streamed. */
  readonly failingField?: ReconciliationField
  /** Reads Failed Actions of the platform: any text with the ids of the failed messages. */
  readonly failedActions?: () => Promise<string>
  /** Makes the platform request the list of a field. @returns whether the platform used the list */
  readonly reconcile?: (field: ReconciliationField) => Promise<boolean>
  /** The time after which the platform gives up on an answer, in milliseconds. */
  readonly platformTimeout?: number
  /** The time span after which the platform sends an incomplete batch, in milliseconds. */
  readonly batchSpan?: number
  readonly platform?: PlatformEndpoints
  /** The brokers from which the platform consumes links. */
  readonly links?: readonly LinkChannel[]
  /** Reads the devices of a user from the platform: any text with the tokens, or with their first six characters. */
  readonly devices?: (userId: string) => Promise<string>
  /** Restarts the implementation and resolves when it was started again, although it may not answer yet. */
  readonly restart?: () => Promise<void>
  readonly pace: Pace
}

interface Preparation {
  readonly isPrepared: (facts: Facts) => boolean
  /** Why a check is skipped. */
  readonly missing: string
  readonly prepare: string
}

export const preparations = {
  'blocked user': {
    isPrepared: ({ users }) => users.blocked !== undefined,
    missing: 'no blocked user is named',
    prepare: 'block a test user at the operator and name the user: --blocked-user ID, or users.blocked in the file',
  },
  'user without device': {
    isPrepared: ({ users }) => users.withoutDevice !== undefined,
    missing: 'no user without a device is named',
    prepare:
      'create a test user without a linked device and name the user: --user-without-device ID, or users.without_device in the file',
  },
  'known users': {
    isPrepared: ({ known }) => Object.values(known).some((values) => Object.values(values).includes(true)),
    missing: 'no user is known for whom a field is true',
    prepare: 'state the values of a test user in the file: known: {"1002": {blocked: true}}',
  },
  'batch maximum': {
    isPrepared: ({ batchMaxAgreed }) => batchMaxAgreed,
    missing: 'no batch maximum is named',
    prepare: 'name the maximum that operator and platform agreed on: --batch-max NUMBER, or batch_max in the file',
  },
  'all fields named': {
    isPrepared: ({ fields }) => fields !== undefined,
    missing: 'the fields with a source are not named',
    prepare: 'name every field that the operator can list: --fields blocked,excluded, or fields in the file',
  },
  'failing field': {
    isPrepared: ({ failingField }) => failingField !== undefined,
    missing: 'no field is named whose list fails while it is streamed',
    prepare:
      'in a test environment, make the source of a field fail after its first rows, and name the field: failing_field in the file',
  },
  restart: {
    isPrepared: ({ restart }) => restart !== undefined,
    missing: 'the checker cannot restart the implementation',
    prepare: 'give --restart-command COMMAND, or run on a terminal with --ask-restart',
  },
  'timeout of the platform': {
    isPrepared: ({ platformTimeout }) => platformTimeout !== undefined,
    missing: 'the time is not named after which the platform gives up on an answer',
    prepare: 'name it: --platform-timeout 30s',
  },
  'time span': {
    isPrepared: ({ batchSpan }) => batchSpan !== undefined,
    missing: 'the time span is not named after which the platform sends an incomplete batch',
    prepare: 'name it: --batch-span 2s',
  },
  'export of Failed Actions': {
    isPrepared: ({ failedActions }) => failedActions !== undefined,
    missing: 'the checker cannot read Failed Actions',
    prepare: 'give --failed-command COMMAND, which prints the ids of the failed messages',
  },
  'channel of device links': {
    isPrepared: ({ platform, links = [] }) => platform?.linkKey !== undefined || links.length > 0,
    missing: 'no channel is named over which the platform receives links of devices',
    prepare: 'give --platform-url and --link-key-file, or amqp or kafka in the file',
  },
  'queue of device links': {
    isPrepared: ({ links = [] }) => links.some(({ linkWithHeader }) => linkWithHeader !== undefined),
    missing: 'no message-queue broker is named from which the platform consumes links of devices',
    prepare: 'give amqp in the file',
  },
  'key for device links': {
    isPrepared: ({ platform }) => platform?.linkKey !== undefined,
    missing: 'the API key for links of devices is not named',
    prepare: 'give --platform-url and --link-key-file, with the key that the platform issues to this operator',
  },
  'list of devices': {
    isPrepared: ({ devices }) => devices !== undefined,
    missing: 'the checker cannot read the devices of a user',
    prepare:
      'give --devices-command COMMAND, which prints the tokens of the devices of $USER_ID, or their first six characters',
  },
  'secret of statuses': {
    isPrepared: ({ platform }) => platform?.statusSecret !== undefined,
    missing: 'the secret is not named with which the operator signs statuses',
    prepare: 'give --platform-url and --status-secret-file, with a secret that the platform knows: whsec_…',
  },
  'reconciliation of the platform': {
    isPrepared: ({ reconcile }) => reconcile !== undefined,
    missing: 'the checker cannot make the platform request a list',
    prepare: 'in a test environment, give --reconcile-command COMMAND, which ends with 0 if the platform used the list',
  },
} satisfies Readonly<Record<string, Preparation>>

/** Something that a person must prepare for a check. */
export type Need = keyof typeof preparations
