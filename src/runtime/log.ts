import { type DestinationStream, destination, type Level, type Logger, pino } from 'pino'
import { type EventName, on } from './events.ts'
import { textLines } from './log-text.ts'

export interface LogOptions {
  /** One line for each attempt comes with info. */
  readonly level: Level | 'silent'
  readonly format: 'json' | 'text'
  /** Texts that must never be written, whatever they are part of: `[redacted]` stands in their place. */
  readonly secrets?: readonly string[]
  /** Default: standard output. */
  readonly to?: { write(line: string): unknown }
}

export interface Log {
  /** Ends the subscriptions and writes what is still held back. */
  stop(): void
}

/**
 * Writes what happens (events.ts) as log lines, one for each event. This is the only place where the engine's log is phrased.
 * Message texts and users' ids are not logged: the ref (push_id, site_notification_id) finds them.
 *
 * @example
 * const log = startLog({ level: 'info', format: 'json', secrets: [apiKey] })
 * // {"level":"info","time":"2026-11-21T10:00:00.000Z","event":"server.listening","side":"operator","url":"http://…","msg":"operator listens"}
 */
export function startLog({ level, format, secrets = [], to }: LogOptions): Log {
  // Not synchronous: the process that sends must not wait for its terminal.
  const stdout = to ? undefined : destination({ fd: 1, sync: false })
  stdout?.on('error', () => {}) // a reader that went away (EPIPE) must not end the server
  const target = (to ?? stdout) as { write(line: string): unknown }
  const written = format === 'text' ? textLines(target) : target
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    scrubbed(written, secrets),
  )
  const ends = (Object.keys(phrases) as EventName[]).map((name) => subscribe(logger, name))
  return {
    stop() {
      for (const end of ends) end()
      try {
        stdout?.flushSync()
      } catch {
        // Standard output is gone, and there is nowhere else to say so.
      }
    },
  }
}

type Fields = Readonly<Record<string, unknown>>
type Phrase = readonly [at: Level | ((event: Fields) => Level), message: string, leaveOut?: readonly string[]]

const bySettled = ({ category, uncertain }: Fields): Level =>
  category === 'successful' && !uncertain ? 'info' : 'warn'

const byStatus = ({ status, counted }: Fields): Level => (counted ? 'debug' : Number(status) >= 500 ? 'warn' : 'info')

const byFindings = ({ state, critical, high }: Fields): Level =>
  state === 'refused' || Number(critical) > 0 || Number(high) > 0 ? 'warn' : 'info'

const phrases: Readonly<Record<EventName, Phrase>> = {
  'server.starting': ['info', 'starting'],
  'server.listening': ['info', 'listening'],
  'server.stopping': ['info', 'stopping: finishing what is in progress'],
  'process.failed': ['error', 'an error that nobody caught: stopping, to be started again'],
  'loop.failed': ['error', 'a turn of a loop failed, to be repeated'],
  'store.lost': ['error', 'the store cannot be reached: messages wait until it can'],
  'store.back': ['info', 'the store is back'],
  'store.commit': ['debug', 'committed'],
  'store.repeated': ['warn', 'a commit failed and is repeated caller by caller'],
  'request.refused': [byStatus, 'request refused'],
  'connections.refused': ['warn', 'connections closed at once: as many are open as may be'],
  'keys.refused': ['warn', 'requests without a right API key'],
  'message.received': ['debug', 'messages received'],
  'message.invalid': ['warn', 'message invalid'],
  'messages.refused': ['debug', 'messages refused before they were claimed: what reaches them is paused'],
  'message.claimed': ['debug', 'message claimed'],
  'message.repeated': ['info', 'message known already: answered as before, nothing sent'],
  'message.taken_over': ['warn', 'message taken over from a process that is gone'],
  'message.other_parts': ['warn', 'the same activity.id with other parts: another message (row 29)'],
  'message.suppressed': ['info', 'message suppressed'],
  'message.without_text': ['debug', 'message delivered without title and body'],
  'content.missing': [
    'warn',
    'delivered without title and body: nothing was found at these pointers; correct operator.content, or set operator.content.required',
  ],
  'message.calling': ['debug', 'calling the provider'],
  'message.settled': [bySettled, 'attempt settled'],
  'suppression.away': ['error', 'the attribute source cannot answer: nothing is sent until it can'],
  'budget.spent': ['warn', 'answered before all was done: the rest goes on, its retry gets the result'],
  'call.done': ['debug', 'call to the provider done'],
  'provider.paused': ['warn', 'provider paused'],
  'provider.resumed': ['info', 'provider resumed'],
  'provider.threw': ['error', 'the provider threw: its messages are sent again'],
  'provider.alert': ['error', 'provider needs attention'],
  'answer.warning': ['warn', 'the answer is odd'],
  'device.sent': ['debug', 'asked for one device'],
  'device.dropped': ['info', 'a device that its provider proved dead is unlinked'],
  'removals.stopped': ['error', 'too many devices were removed lately: none is until a person confirms'],
  'removals.confirmed': ['info', 'a person confirmed: dead devices are removed again'],
  'queue.put': ['debug', 'put into the queue'],
  'lane.owned': ['info', 'this process owns the lane'],
  'lane.lost': ['warn', 'this process lost the lane'],
  'lane.held': ['warn', 'lane held'],
  'lane.released': ['info', 'lane goes on: the probe worked'],
  'lane.resumed': ['info', 'lane resumed'],
  'lane.paused': ['error', 'lane paused until somebody looks'],
  'batch.sent': ['debug', 'batch sent'],
  'item.settled': [bySettled, 'attempt settled'],
  'item.retry': ['warn', 'attempt failed, to be repeated'],
  'device.linked': ['info', 'device linked', ['userId']],
  'device.moved': ['info', 'device given to another user', ['userId', 'from']],
  'device.unlinked': ['info', 'device unlinked', ['userId']],
  'device.clamped': ['warn', 'a timestamp is more than 60 s ahead of our clock: taken as of now; compare the clocks'],
  'device.unreadable': ['warn', 'a device of the device source cannot be read, the others go on'],
  'device.restored': ['warn', 'removed devices were linked again'],
  'reconciliation.begun': ['debug', 'a list of users is streamed'],
  'reconciliation.ended': [({ ended }) => (ended === 'whole' ? 'info' : 'warn'), 'list of users ended'],
  'crm.imported': ['info', 'attributes imported into the CRM'],
  'crm.comparing': ['info', 'comparing the operator’s list with the CRM'],
  'crm.compared': [byFindings, 'compared with the CRM'],
  'crm.corrected': ['warn', 'the CRM was corrected from a reconciliation'],
  'channel.lost': ['error', 'the broker cannot be reached, or does not do what is asked: trying again'],
  'channel.back': ['info', 'the broker is back'],
  'channel.held': ['error', 'the store does not take what arrived: messages are held, the broker keeps the rest'],
  'channel.released': ['info', 'the store takes messages again'],
  'device.parked': ['error', 'a message that cannot be read is parked: see /admin/failed'],
  'inbox.shown': ['debug', 'notification shown', ['userId']],
  'inbox.opened': ['debug', 'inbox stream opened', ['userId']],
  'inbox.closed': ['debug', 'inbox stream closed', ['userId']],
}

function subscribe(logger: Logger, name: EventName): () => void {
  const [at, message, leaveOut = []] = phrases[name]
  if (typeof at === 'string' && !logger.isLevelEnabled(at)) return () => {}
  return on(name, (event) => {
    const level = typeof at === 'string' ? at : at({ ...event })
    if (!logger.isLevelEnabled(level)) return
    const fields: Record<string, unknown> = { event: name, ...event }
    for (const field of leaveOut) delete fields[field]
    // A path may carry a token in its query.
    if (typeof fields.path === 'string') fields.path = fields.path.split('?', 1)[0]
    logger[level](fields, message)
  })
}

/** The last line of defence: whoever put a key into an error's text, it does not get out. */
function scrubbed(target: { write(line: string): unknown }, secrets: readonly string[]): DestinationStream {
  const forms = secrets
    .filter((secret) => secret.length >= 4)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  if (forms.length === 0) return target as DestinationStream
  forms.sort((a, b) => b.length - a.length) // the longer first, lest a part of one remain
  const any = new RegExp(forms.map((form) => form.replace(/[^\w]/g, '\\$&')).join('|'), 'g')
  return { write: (line) => void target.write(line.replace(any, '[redacted]')) }
}
