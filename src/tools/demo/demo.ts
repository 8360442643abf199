import { sleep } from '../../base/runtime/sleep.ts'
import { brands, hasExcludedThemselves } from './cast.ts'
import { createClients } from './clients.ts'
import { createJournal } from './journal.ts'
import {
  printAddresses,
  printEvents,
  printGoodbye,
  printHeading,
  printTrickle,
  printVerdicts,
  printWelcome,
} from './narrator.ts'
import { startPageServer } from './page-server.ts'
import { createPhones } from './phones.ts'
import { createRecords, type Sample, unreadable } from './records.ts'
import { startServers } from './servers.ts'
import { verify } from './verify.ts'

export interface DemoOptions {
  readonly version: string
  /** Port of the page. The operator and the platform use free ports. */
  readonly port: number
  /** Whether to end after the sample traffic has arrived. */
  readonly once: boolean
  /** Stops the demo. */
  readonly signal: AbortSignal
}

const arriveWithinMs = 30_000
const trickleMs = 4_000
/** The phones that are offline at the start come online after this time. */
const onlineAfterMs = 45_000

/**
 * Runs both sides with sample traffic and a page. Ends at the signal or, with `once`, when the sample traffic has arrived.
 *
 * @returns whether everything arrived as expected
 */
export async function runDemo({ version, port, once, signal }: DemoOptions): Promise<boolean> {
  const undo: (() => unknown)[] = []
  try {
    printWelcome(version)
    const page = await startPageServer(port)
    undo.push(() => page.close())
    const servers = await startServers([page.url, page.url.replace('127.0.0.1', 'localhost')])
    undo.push(() => servers.stop())
    const clients = createClients(servers)
    const phones = createPhones(servers.standIns)
    const offline = phones.list.filter(({ online }) => !online)
    const switchOnline = (): void => {
      for (const { id } of offline) phones.setOnline(id, true)
    }
    undo.push(() => phones.stop())
    await Promise.all(phones.list.map(({ brand, userId, link }) => clients.linkDevice(brand, userId, link)))
    const journal = createJournal(clients, phones)
    undo.push(() => journal.stop())
    undo.push(printEvents(journal, phones))
    const records = createRecords(page.url)
    page.connect({ servers, clients, journal, records, phones })
    printAddresses(page.url, servers)

    printHeading('What happens')
    const entries = await journal.send(records.first(), [unreadable])
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(arriveWithinMs)])
    // After a timeout the verdicts show the messages that have not arrived.
    await journal.settled(entries, timeout).catch(() => {})
    if (signal.aborted) return true
    const verdicts = await verify(entries, { clients, phones, ...(once && { switchOnline }) })
    printVerdicts(verdicts)
    if (once) return verdicts.every(({ expected }) => expected)

    printTrickle()
    const timer = setTimeout(switchOnline, onlineAfterMs)
    undo.push(() => clearTimeout(timer))
    await trickle(() => journal.send([nextSample(records)]), signal)
    return true
  } finally {
    while (undo.length > 0) await undo.pop()?.()
    if (!once) printGoodbye()
  }
}

async function trickle(send: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(trickleMs * (0.75 + Math.random() / 2), signal)
    // If a message cannot be sent, the demo goes on with the next one.
    if (!signal.aborted) await send().catch(() => {})
  }
}

/** A random message: mostly on-site, and mostly to users who are not excluded. */
function nextSample(records: ReturnType<typeof createRecords>): Sample {
  const all = brands.flatMap((brand) => brand.users.map((person) => ({ brand, person })))
  const allowed = all.filter(({ brand, person }) => !hasExcludedThemselves(brand.id, person.id))
  const { brand, person } = pickRandom(Math.random() < 0.1 ? all : allowed)
  return records.next(Math.random() < 0.6 ? 'site' : 'push', brand, person)
}

function pickRandom<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item
}
