import { styleText } from 'node:util'
import { on } from '../runtime/events.ts'
import { brands } from './cast.ts'
import type { Entry } from './entry.ts'
import type { Journal } from './journal.ts'
import type { Phones } from './phones.ts'
import type { World } from './world.ts'

type Style = Parameters<typeof styleText>[0]
/** Colours only where a person looks: not in a file, not with NO_COLOR. */
const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })
const say = (text = ''): void => void process.stdout.write(`${text}\n`)

export function sayWelcome(version: string): void {
  say()
  say(`  ${paint('bold', 'Bellwire demo')} ${paint('dim', version)}`)
  say(`  An operator and a platform, each with a store and a port of its own. They speak only HTTP to each other.`)
  say('  Behind the operator are stand-ins of FCM, APNs and Web Push: phones ring without an account.')
  say()
}

export function sayWhatToOpen(page: string, { operator, platform }: World): void {
  const row = (name: string, text: string, note: string): void =>
    say(`  ${paint('bold', name.padEnd(10))}${text}${note && `  ${paint('dim', note)}`}`)
  row('Page', paint('cyan', page), 'open it: notifications appear as they arrive, also on the phones')
  row('Platform', platform.url, 'takes activities, calls the operator')
  row('Operator', operator.url, 'the API of §4.1, and the inbox')
  say()
  say(`  ${paint('dim', 'Look inside, in another terminal:')}`)
  say(`  curl -H 'x-api-key: ${platform.adminKey}' ${platform.url}/admin/summary`)
  say(`  curl -H 'x-api-key: ${platform.adminKey}' ${platform.url}/admin/failed`)
  say(`  curl -H 'x-api-key: ${operator.adminKey}' ${operator.url}/admin/summary`)
  say()
}

/** Says each message's outcome in a line, whose phone comes and goes, and what goes wrong between the sides. Returns what ends it. */
export function narrate(journal: Journal, phones: Phones): () => void {
  /** What was said of each: a push that waited for a device is told again when it is there. */
  const told = new Map<string, string | undefined>()
  const ends = [
    journal.onChange((entry) => {
      const again = told.has(entry.key)
      if (entry.state === 'waiting' || (again && told.get(entry.key) === entry.where)) return
      told.set(entry.key, entry.where)
      say(line(entry, again))
    }),
    phones.onChange(({ owner, name, online }, what) => {
      if (what !== 'connection') return
      say(
        `  ${clock(Date.now())}  ${paint('yellow', online ? '●' : '○')} ${owner}’s ${name} ${online ? 'is back online' : 'is offline'}`,
      )
    }),
    on('item.retry', ({ lane, reason, inMs }) => {
      say(
        `  ${clock(Date.now())}  ${paint('yellow', '…')} ${laneName(lane)}: no answer yet (${reason}), again in ${seconds(inMs)}`,
      )
    }),
    on('lane.held', ({ lane, reason, forMs }) => {
      say(`  ${clock(Date.now())}  ${paint('yellow', '…')} ${laneName(lane)} waits ${seconds(forMs)}: ${reason}`)
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}

const widestName = Math.max(...brands.flatMap(({ users }) => users.map(({ name }) => name.length)))
const widestBrand = Math.max(...brands.map(({ name }) => name.length)) + ' 1001'.length

function line(entry: Entry, again: boolean): string {
  const channel = (entry.channel === 'push' ? 'push' : 'on-site').padEnd(8)
  if (entry.state === 'unreadable') {
    return `  ${clock(entry.at)}  ${paint('red', '✕')} ${channel}${paint('red', `Refused by the platform, nobody else is held up. ${entry.note}`)}`
  }
  const who = `${entry.name.padEnd(widestName)}  ${paint('dim', `${entry.brand_name} ${entry.user_id}`.padEnd(widestBrand))}`
  const title = shorten(entry.title, 32).padEnd(32)
  return `  ${clock(again ? Date.now() : entry.at)}  ${marks[entry.state]} ${channel}${who}  ${title}  ${outcome(entry, again)}`
}

const marks = {
  waiting: ' ',
  arrived: paint('green', '✓'),
  kept: paint('yellow', '…'),
  replaced: paint('yellow', '–'),
  refused: paint('red', '✕'),
  failed: paint('red', '✕'),
  unreadable: paint('red', '✕'),
} as const

function outcome({ channel, state, at, ms, note, where = '' }: Entry, again: boolean): string {
  if (state === 'refused' || state === 'failed') return paint('red', `${state}: ${note ?? 'no reason given'}`)
  const took = paint('dim', again ? `after ${seconds(Date.now() - at)}` : `${ms ?? 0} ms`)
  return `${channel === 'push' ? where : 'in the inbox'}  ${took}`
}

export interface Verdict {
  readonly text: string
  readonly expected: boolean
}

export function sayVerdicts(verdicts: readonly Verdict[]): void {
  say()
  say(`  ${paint('bold', 'Summary')}`)
  for (const { text, expected } of verdicts) say(`  ${expected ? paint('green', '✓') : paint('red', '✕')} ${text}`)
  say()
  const wrong = verdicts.filter(({ expected }) => !expected).length
  say(
    wrong === 0
      ? `  ${paint(['green', 'bold'], 'Everything arrived as expected.')}`
      : `  ${paint(['red', 'bold'], `Not as expected: ${wrong} of ${verdicts.length}.`)}`,
  )
  say()
}

export function sayTrickle(): void {
  say()
  say(`  ${paint('dim', 'From now on a message every few seconds. Ctrl-C ends the demo and removes its stores.')}`)
  say()
}

export function sayHeading(text: string): void {
  say(`  ${paint('bold', text)}`)
}

export function sayGoodbye(): void {
  say()
  say('  Stopped. Nothing of it is left on this machine.')
}

function clock(at: number): string {
  return paint('dim', new Date(at).toTimeString().slice(0, 8))
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1_000)} s`
}

function laneName(lane: string): string {
  const [brandId, channel] = lane.split('/')
  const brand = brands.find(({ id }) => id === brandId)?.name ?? brandId
  return `${brand} ${channel === 'push' ? 'push' : 'on-site'}`
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
