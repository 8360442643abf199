import { styleText } from 'node:util'
import { on } from '../../base/runtime/events.ts'
import { shortened } from '../../contract/storable.ts'
import { brands } from './cast.ts'
import type { Entry } from './entry.ts'
import type { Journal } from './journal.ts'
import type { Phones } from './phones.ts'
import type { Servers } from './servers.ts'

type Style = Parameters<typeof styleText>[0]
/** Colours text in a terminal, but not in a file or with NO_COLOR. */
const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })
const print = (text = ''): void => void process.stdout.write(`${text}\n`)

export function printWelcome(version: string): void {
  print()
  print(`  ${paint('bold', 'Bellwire demo')} ${paint('dim', version)}`)
  print(`  An operator and a platform, each with its own store and port. They communicate only over HTTP.`)
  print('  The operator uses stand-ins of FCM, APNs and Web Push: phones ring without an account.')
  print()
}

export function printAddresses(page: string, { operator, platform }: Servers): void {
  const row = (name: string, text: string, note: string): void =>
    print(`  ${paint('bold', name.padEnd(10))}${text}${note && `  ${paint('dim', note)}`}`)
  row('Page', paint('cyan', page), 'open it: the way of each message, live, and buttons that break it')
  row('Platform', platform.url, 'accepts activities and calls the operator')
  row('Operator', operator.url, 'the operator API and the inbox')
  print()
  print(`  ${paint('dim', 'To see their data, in another terminal:')}`)
  print(`  curl -H 'x-api-key: ${platform.adminKey}' ${platform.url}/admin/summary`)
  print(`  curl -H 'x-api-key: ${platform.adminKey}' ${platform.url}/admin/failed`)
  print(`  curl -H 'x-api-key: ${operator.adminKey}' ${operator.url}/admin/summary`)
  print()
}

/** Prints the outcome of each message, phones that go online or offline, and failed calls. @returns a function that stops it */
export function printEvents(journal: Journal, phones: Phones): () => void {
  /** The printed places by entry: a push that waited for a device is printed again when it is shown. */
  const printed = new Map<string, string | undefined>()
  const unsubscribe = [
    journal.onChange((entry) => {
      const again = printed.has(entry.key)
      if (entry.state === 'waiting' || entry.campaign || (again && printed.get(entry.key) === entry.where)) return
      printed.set(entry.key, entry.where)
      print(lineOf(entry, again))
    }),
    phones.onChange(({ owner, name, online }, change) => {
      if (change !== 'connection') return
      print(
        `  ${clock(Date.now())}  ${paint('yellow', online ? '●' : '○')} ${owner}’s ${name} ${online ? 'is back online' : 'is offline'}`,
      )
    }),
    on('item.retry', ({ lane, reason, inMs }) => {
      print(
        `  ${clock(Date.now())}  ${paint('yellow', '…')} ${laneName(lane)}: no answer yet (${reason}), next attempt in ${seconds(inMs)}`,
      )
    }),
    on('lane.held', ({ lane, reason, forMs }) => {
      print(`  ${clock(Date.now())}  ${paint('yellow', '…')} ${laneName(lane)} waits ${seconds(forMs)}: ${reason}`)
    }),
  ]
  return () => {
    for (const end of unsubscribe) end()
  }
}

const widestName = Math.max(...brands.flatMap(({ users }) => users.map(({ name }) => name.length)))
const widestBrand = Math.max(...brands.map(({ name }) => name.length)) + ' 1001'.length

function lineOf(entry: Entry, again: boolean): string {
  const channel = (entry.channel === 'push' ? 'push' : 'on-site').padEnd(8)
  if (entry.state === 'unreadable') {
    return `  ${clock(entry.at)}  ${paint('red', '✕')} ${channel}${paint('red', `Refused by the platform; other messages are not delayed. ${entry.note}`)}`
  }
  const who = `${entry.name.padEnd(widestName)}  ${paint('dim', `${entry.brand_name} ${entry.user_id}`.padEnd(widestBrand))}`
  const title = shortened(entry.title, 32).padEnd(32)
  return `  ${clock(again ? Date.now() : entry.at)}  ${marks[entry.state]} ${channel}${who}  ${title}  ${outcome(entry, again)}`
}

const marks = {
  waiting: ' ',
  arrived: paint('green', '✓'),
  kept: paint('yellow', '…'),
  replaced: paint('yellow', '–'),
  refused: paint('red', '✕'),
  failed: paint('red', '✕'),
  cancelled: paint('yellow', '–'),
  unreadable: paint('red', '✕'),
} as const

function outcome({ channel, state, at, ms, note, where = '' }: Entry, again: boolean): string {
  if (state === 'refused' || state === 'failed' || state === 'cancelled')
    return paint('red', `${state}: ${note ?? 'no reason'}`)
  const took = paint('dim', again ? `after ${seconds(Date.now() - at)}` : `${ms ?? 0} ms`)
  return `${channel === 'push' ? where : 'in the inbox'}  ${took}`
}

export interface Verdict {
  readonly text: string
  readonly expected: boolean
}

export function printVerdicts(verdicts: readonly Verdict[]): void {
  print()
  print(`  ${paint('bold', 'Summary')}`)
  for (const { text, expected } of verdicts) print(`  ${expected ? paint('green', '✓') : paint('red', '✕')} ${text}`)
  print()
  const wrong = verdicts.filter(({ expected }) => !expected).length
  print(
    wrong === 0
      ? `  ${paint(['green', 'bold'], 'Everything arrived as expected.')}`
      : `  ${paint(['red', 'bold'], `Not as expected: ${wrong} of ${verdicts.length}.`)}`,
  )
  print()
}

export function printTrickle(): void {
  print()
  print(`  ${paint('dim', 'From now on a message every few seconds. Ctrl-C stops the demo and deletes its data.')}`)
  print()
}

export function printHeading(text: string): void {
  print(`  ${paint('bold', text)}`)
}

export function printGoodbye(): void {
  print()
  print('  Stopped. The data of the demo has been deleted.')
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
