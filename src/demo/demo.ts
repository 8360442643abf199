import { brands, hasExcludedThemselves } from './cast.ts'
import { createClients } from './clients.ts'
import { createJournal } from './journal.ts'
import { narrate, sayGoodbye, sayHeading, sayTrickle, sayVerdicts, sayWelcome, sayWhatToOpen } from './narrator.ts'
import { startPageServer } from './page-server.ts'
import { createPhones } from './phones.ts'
import { createRecords, type Sample, unreadable } from './records.ts'
import { verify } from './verify.ts'
import { startWorld } from './world.ts'

export interface DemoOptions {
  readonly version: string
  /** Of the page; the two sides take free ones. */
  readonly port: number
  /** End after the sample traffic has arrived. */
  readonly once: boolean
  /** Ends the demo. */
  readonly signal: AbortSignal
}

const arriveWithinMs = 30_000
const trickleMs = 4_000
/** When the phones that are offline at the start come back by themselves. */
const backAfterMs = 45_000

/**
 * Runs both sides with sample traffic and a page, until the signal or, with `once`, until the sample traffic has arrived.
 *
 * @returns whether everything arrived as expected
 */
export async function runDemo({ version, port, once, signal }: DemoOptions): Promise<boolean> {
  const undo: (() => unknown)[] = []
  try {
    sayWelcome(version)
    const page = await startPageServer(port)
    undo.push(() => page.close())
    const world = await startWorld([page.url, page.url.replace('127.0.0.1', 'localhost')])
    undo.push(() => world.stop())
    const clients = createClients(world)
    const phones = createPhones(world.standIns)
    const away = phones.list.filter(({ online }) => !online)
    const comeBack = (): void => {
      for (const { id } of away) phones.setOnline(id, true)
    }
    undo.push(() => phones.stop())
    await Promise.all(phones.list.map(({ brand, userId, link }) => clients.linkDevice(brand, userId, link)))
    const journal = createJournal(clients, phones)
    undo.push(() => journal.stop())
    undo.push(narrate(journal, phones))
    const records = createRecords(page.url)
    page.connect({ operator: world.operator.url, clients, journal, records, phones })
    sayWhatToOpen(page.url, world)

    sayHeading('What happens')
    const entries = await journal.send(records.first(), [unreadable])
    const late = AbortSignal.any([signal, AbortSignal.timeout(arriveWithinMs)])
    // Who waits too long is told by the verdicts.
    await journal.settled(entries, late).catch(() => {})
    if (signal.aborted) return true
    const verdicts = await verify(entries, { clients, phones, ...(once && { comeBack }) })
    sayVerdicts(verdicts)
    if (once) return verdicts.every(({ expected }) => expected)

    sayTrickle()
    const later = setTimeout(comeBack, backAfterMs)
    undo.push(() => clearTimeout(later))
    await trickle(() => journal.send([anybody(records)]), signal)
    return true
  } finally {
    while (undo.length > 0) await undo.pop()?.()
    if (!once) sayGoodbye()
  }
}

async function trickle(send: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await rest(trickleMs * (0.75 + Math.random() / 2), signal)
    // One that cannot be sent is no reason to end: the next one comes.
    if (!signal.aborted) await send().catch(() => {})
  }
}

/** Mostly on-site, to those who may get it; now and then to the user who has excluded herself. */
function anybody(records: ReturnType<typeof createRecords>): Sample {
  const everybody = brands.flatMap((brand) => brand.users.map((person) => ({ brand, person })))
  const may = everybody.filter(({ brand, person }) => !hasExcludedThemselves(brand.id, person.id))
  const { brand, person } = pick(Math.random() < 0.1 ? everybody : may)
  return records.next(Math.random() < 0.6 ? 'site' : 'push', brand, person)
}

function pick<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
