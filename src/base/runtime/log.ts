import { type DestinationStream, type Level, type Logger, pino } from 'pino'
import { type EventName, on } from './events.ts'
import { createLineWriter } from './line-writer.ts'
import { controlMarks, escapeControls, textLines } from './log-text.ts'
import { phraseDuration } from './phrase-duration.ts'
import { summarizeRepeats } from './summarize-repeats.ts'

export interface LogOptions {
  /** `info` writes one line for each attempt. */
  readonly level: Level | 'silent'
  readonly format: 'json' | 'text'
  /** Secrets that must never be written: wherever one occurs, it is replaced with `[redacted]`. */
  readonly secrets?: readonly string[]
  /** Default: standard output. */
  readonly to?: { write(line: string): unknown }
}

export interface Log {
  /** Ends the subscriptions and writes the buffered lines. */
  stop(): void
}

/**
 * Writes one log line for each event (events.ts). All log messages of the engine are defined in this file.
 * Message texts and user ids are not logged: look them up by the ref (push_id, site_notification_id).
 *
 * @example
 * const log = startLog({ level: 'info', format: 'json', secrets: [apiKey] })
 * // {"level":"info","time":"2026-11-21T10:00:00.000Z","event":"server.listening","side":"operator","url":"http://…","msg":"listening"}
 */
export function startLog({ level, format, secrets = [], to }: LogOptions): Log {
  const stdout = to ? undefined : createLineWriter(1)
  const target = (to ?? stdout) as { write(line: string): unknown }
  const formatted = format === 'text' ? textLines(target) : escapeMarks(target)
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    redactLines(formatted, secrets),
  )
  const storesAway = new Set<string>()
  const ends = [
    on('store.lost', ({ store }) => void storesAway.add(store)),
    on('store.back', ({ store }) => void storesAway.delete(store)),
    ...(Object.keys(phrases) as EventName[]).map((name) => subscribe(logger, name, () => storesAway.size)),
  ]
  return {
    stop() {
      for (const end of ends) end()
      stdout?.stop()
    },
  }
}

/** A terminal or an editor that shows the log must not obey a text of another party. JSON escapes the other control characters. */
const escapeMarks = (target: { write(line: string): unknown }) => ({
  write: (line: string) => void target.write(line.replace(controlMarks, escapeControls)),
})

type Fields = Readonly<Record<string, unknown>>
/** @param storesAway the number of stores that are away now: their outage has a line of its own */
type LevelOf = (event: Fields, storesAway: number) => Level
type Phrase = readonly [
  level: Level | LevelOf,
  message: string | ((event: Fields) => string),
  omitted?: readonly string[],
]

/** Outcomes of every day, about which nobody need do anything. */
const everyday: ReadonlySet<unknown> = new Set(['suppressed', 'no_device', 'expired', 'rejected', 'cancelled'])

const bySettled = ({ category, uncertain, reason }: Fields): Level =>
  !uncertain && (category === 'successful' || (category === 'failed' && everyday.has(reason))) ? 'info' : 'warn'

const byStatus: LevelOf = ({ status, counted }, storesAway) => {
  if (counted || (status === 503 && storesAway > 0)) return 'debug'
  return Number(status) >= 500 ? 'warn' : 'info'
}

/** The first failure may be noticed before the outage of the store is. */
const byOutage: LevelOf = ({ unavailable, failures }, storesAway) =>
  unavailable && (storesAway > 0 || failures === 1) ? 'debug' : 'error'

const byFindings = ({ state, critical, high }: Fields): Level =>
  state === 'refused' || Number(critical) > 0 || Number(high) > 0 ? 'warn' : 'info'

const phrases: Readonly<Record<EventName, Phrase>> = {
  'server.starting': ['info', 'starting'],
  'server.listening': ['info', 'listening'],
  'server.reloaded': [
    ({ restart }) => ((restart as readonly string[]).length > 0 ? 'warn' : 'info'),
    'the configuration was read again; a setting in `restart` changed, and needs a restart',
  ],
  'server.reload_refused': ['error', 'the new configuration is not valid: nothing was changed'],
  'process.as_root': ['warn', 'this process runs as root: start it as a user who may write only to its store'],
  'audit.failed': ['error', 'the act took effect, but its entry of the audit trail cannot be stored'],
  'server.started': ['debug', 'started'],
  'server.stopping': ['info', 'stopping: finishing work in progress'],
  'process.failed': ['error', 'uncaught error: stopping, must be restarted'],
  'loop.failed': [byOutage, 'background task failed, will be retried'],
  'store.lost': ['error', 'the store can store nothing: messages wait until it can'],
  'store.away': ['error', 'the store can still store nothing'],
  'store.back': ['info', 'the store stores again'],
  'store.commit': ['debug', 'transaction committed'],
  'store.repeated': ['warn', 'group commit failed, repeated one caller at a time'],
  'request.refused': [byStatus, 'request refused'],
  'request.answered': ['debug', 'request answered'],
  'connections.refused': ['warn', 'connections refused: the limit of open connections is reached'],
  'requests.refused': [byStatus, 'requests of users, or without a right key, refused'],
  'keys.refused': ['warn', 'requests refused: API key missing or wrong'],
  'key.address_refused': ['warn', 'requests refused: the key is not accepted from this address'],
  'key.expired': ['warn', 'requests refused: the key has expired'],
  'key.name_taken': ['warn', 'a key of the store is refused here: the configuration has another key with its name'],
  'key.expires': ['warn', 'a key that is used expires soon: give its holder a new one'],
  'console.sign_in_refused': ['warn', 'the OpenID provider did not confirm a sign-in to the console'],
  'origins.refused': ['info', 'a page was refused: its origin is not in app.origins'],
  'message.received': ['debug', 'messages received'],
  'message.invalid': ['warn', 'message invalid'],
  'messages.refused': ['debug', 'messages refused before they were claimed: their provider or push service is paused'],
  'messages.limited': [
    ({ first }) => (first ? 'warn' : 'debug'),
    'messages refused: their API key exceeded its rate (operator.keys[].rate)',
  ],
  'message.claimed': ['debug', 'message claimed'],
  'message.repeated': ['info', 'repeated message: answered as before, nothing sent'],
  'message.taken_over': ['warn', 'message taken over from a dead process'],
  'message.suppressed': ['info', 'message suppressed'],
  'message.without_text': ['debug', 'message delivered without title and body'],
  'content.missing': [
    'warn',
    'delivered without title and body: no text at these pointers; correct operator.content, or set operator.content.required',
  ],
  'content.unrecognised': [
    'error',
    'no message since the start had a title or a text: nobody sees a message; correct operator.content',
  ],
  'content.recognised': ['debug', 'the first message with a title or a text'],
  'message.calling': ['debug', 'calling the provider'],
  'message.settled': [bySettled, 'attempt settled'],
  'suppression.held': [
    'error',
    'a list of users has shrunk implausibly: the missing users keep their last values until someone confirms it',
  ],
  'suppression.accepted': ['debug', 'a list of users is in force'],
  'suppression.away': ['error', 'attribute look-up failed: nothing is sent until the source answers'],
  'suppression.back': ['info', 'the source of attributes answers'],
  'budget.spent': ['warn', 'answer budget ended with messages unfinished: work goes on, a retry gets the result'],
  'call.done': ['debug', 'provider call finished'],
  'provider.paused': ['warn', ({ forMs }) => `provider paused, next try in ${phraseDuration(Number(forMs))}`],
  'provider.slowed': ['warn', 'provider refused a call for its quota: rate halved, recovers in five minutes'],
  'provider.resumed': ['info', 'provider resumed'],
  'provider.threw': ['error', 'the provider threw an error: its messages will be sent again'],
  'provider.alert': ['error', 'provider needs attention'],
  'alerts.failed': ['error', 'alerts could not be sent: they are sent again'],
  'answer.warning': ['warn', 'the answer contradicts the request'],
  'device.sent': ['debug', 'push sent to one device'],
  'device.dropped': ['info', 'device unlinked: its push service reported it dead'],
  'removals.stopped': ['error', 'too many devices removed recently: removal stopped until someone confirms it'],
  'removals.confirmed': ['info', 'removal of dead devices confirmed and resumed'],
  'queue.enqueued': ['debug', 'stored in the queue'],
  'lane.owned': ['debug', 'this process owns the lane'],
  'lane.lost': ['warn', 'this process lost the lane'],
  'lane.returned': ['debug', 'this process no longer owns the lane: another process takes it'],
  'brand.moving': [
    'info',
    'a brand is being moved to another store: its lanes wait, and its requests are answered 503',
  ],
  'brand.moved': [
    'warn',
    'a brand has moved to another store, and its requests are answered 503: list it there in the setting stores, and restart this process',
  ],
  'lanes.divided': ['info', 'lanes divided over the living processes'],
  'lane.held': ['warn', ({ forMs }) => `lane held, next try in ${phraseDuration(Number(forMs))}`],
  'lane.released': ['info', 'lane released: the probe succeeded'],
  'lane.resumed': ['info', 'lane resumed'],
  'failed.decided': ['info', 'Failed Actions dismissed or replayed'],
  'lane.paused': ['warn', 'lane paused: no message is sent'],
  'control.set': ['info', 'control of a lane set'],
  'items.cancelled': ['warn', 'waiting messages cancelled: see /admin/failed'],
  'control.ended': ['info', 'control of a lane ended'],
  'batch.sent': ['debug', 'batch sent'],
  'item.settled': [bySettled, 'attempt settled'],
  'item.retry': ['warn', 'attempt failed, will be retried'],
  'device.linked': ['info', 'device linked', ['userId']],
  'device.moved': ['info', 'device moved to another user', ['userId', 'from']],
  'device.unlinked': ['info', 'device unlinked', ['userId']],
  'device.clamped': ['warn', 'timestamp over 60 s ahead of our clock: replaced by the current time; check the clocks'],
  'device.unreadable': ['warn', 'device from the device source is unreadable and skipped'],
  'device.restored': ['warn', 'removed devices linked again'],
  'person.erased': ['info', 'data of a person erased'],
  'reconciliation.begun': ['debug', 'streaming a list of users'],
  'reconciliation.ended': [({ ended }) => (ended === 'whole' ? 'info' : 'warn'), 'list of users ended'],
  'crm.imported': ['info', 'attributes imported into the CRM'],
  'run.started': ['info', 'comparing the operator’s list with the CRM'],
  'run.ended': [byFindings, 'comparison with the CRM ended'],
  'crm.corrected': ['warn', 'CRM corrected with the results of a reconciliation'],
  'consumer.lost': ['error', 'the broker is unreachable or refuses requests: reconnecting'],
  'consumer.back': ['info', 'connection to the broker restored'],
  'consumer.held': ['error', 'the store cannot accept messages: received messages wait, the others stay at the broker'],
  'consumer.released': ['info', 'the store accepts messages again'],
  'status.reported': ['debug', 'delivery status stored'],
  'poll.done': ['debug', 'statuses polled from the operator'],
  'poll.failed': ['warn', 'the operator gave no page of statuses: it is asked again'],
  'poll.restarted': [
    'warn',
    'the operator does not know the cursor of the statuses: polling goes on with the one that it named',
  ],
  'statuses.full': [
    'error',
    'too many delivery statuses of unknown messages: further ones are refused; decide about /admin/failed, and ask the operator for its identifiers',
  ],
  'status.parked': ['error', 'delivery status parked: see /admin/failed'],
  'message.parked': ['error', 'unreadable message parked: see /admin/failed'],
  'inbox.shown': ['debug', 'notification shown', ['userId']],
  'inbox.opened': ['debug', 'inbox stream opened', ['userId']],
  'inbox.closed': ['debug', 'inbox stream closed', ['userId']],
}

/** Events that another party can cause thousands of times: a line for the first one of each lane, and a count once a minute. */
const summarized: ReadonlySet<EventName> = new Set(['status.parked', 'message.parked', 'statuses.full'])

function subscribe(logger: Logger, name: EventName, storesAway: () => number): () => void {
  const [levelOf, message, omitted = []] = phrases[name]
  if (typeof levelOf === 'string' && !logger.isLevelEnabled(levelOf)) return () => {}
  if (summarized.has(name)) return subscribeSummary(logger, name)
  return on(name, (event) => {
    const level = typeof levelOf === 'string' ? levelOf : levelOf({ ...event }, storesAway())
    if (!logger.isLevelEnabled(level)) return
    const fields: Record<string, unknown> = { event: name, ...event }
    for (const field of omitted) delete fields[field]
    // The query string may contain a token.
    if (typeof fields.path === 'string') fields.path = fields.path.split('?', 1)[0]
    logger[level](fields, typeof message === 'string' ? message : message({ ...event }))
  })
}

function subscribeSummary(logger: Logger, name: EventName): () => void {
  const [level, message] = phrases[name] as [Level, string]
  let first: object = {}
  const report = summarizeRepeats(60_000, (lane, count) => {
    logger[level]({ event: name, lane, ...first, count }, message)
  })
  return on(name, (event) => {
    first = event
    report((event as { readonly lane: string }).lane)
    first = {}
  })
}

/** The last line of defence: a secret in an error's text, whatever its origin, is not written. */
function redactLines(target: { write(line: string): unknown }, secrets: readonly string[]): DestinationStream {
  const forms = secrets
    .filter((secret) => secret.length >= 4)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  if (forms.length === 0) return target as DestinationStream
  forms.sort((a, b) => b.length - a.length) // longest first: a secret may contain a shorter one
  const any = new RegExp(forms.map((form) => form.replace(/[^\w]/g, '\\$&')).join('|'), 'g')
  return { write: (line) => void target.write(line.replace(any, '[redacted]')) }
}
