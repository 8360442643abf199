// A run of the checks of a platform: opens the server that the platform sends to, and has one record of each channel enqueued, to find
// out what arrives.

import { sleep } from '../../../base/runtime/sleep.ts'
import { type Channel, channels } from '../../../contract/endpoints.ts'
import { createMessageMaker, type MessageMaker } from '../messages.ts'
import { type Chosen, type EndpointState, type Planned, planRun } from '../plan.ts'
import { CouldNotRun } from '../preflight.ts'
import type { Prepared } from '../run.ts'
import { runSteps } from '../run-steps.ts'
import { type Feature, features, type Target, targetsOf } from '../target.ts'
import { arrivesCheck, keyCheck } from './arrivals.ts'
import { createLane, type Enqueued, type Lane, type Player } from './lane.ts'
import { type Arrived, type Listener, type ListenerOptions, type OnArrival, openListener } from './listener.ts'
import { notOurs, status, successful } from './replies.ts'
import { activityOf, idOf, type PlatformRequest, type Reply, readBody } from './request.ts'

export interface PlatformRunOptions extends Chosen<Lane>, Omit<ListenerOptions, 'onArrival'> {
  /** The endpoints to which the platform must send; undefined: the endpoints at which requests arrive. */
  readonly features?: readonly Feature[]
  readonly mostMessages: number
  readonly firstId?: bigint
  /** Makes the platform send these records. Resolves when they are enqueued. */
  readonly enqueue: (file: Enqueued) => Promise<void>
}

export interface PlatformRun {
  /** {base_url} for the platform. */
  readonly url: string
  /** @throws CouldNotRun if nothing arrives */
  prepare(): Promise<Prepared>
  close(): Promise<void>
}

const gates = { offered: arrivesCheck, accepted: keyCheck }

/**
 * @example
 * const opened = await openPlatformRun(options)
 * console.log(`send to ${opened.url}`)
 * const { results } = await (await opened.prepare()).run()
 */
export async function openPlatformRun(options: PlatformRunOptions): Promise<PlatformRun> {
  const players: Player[] = []
  const listener = await openListener({ ...options, onArrival: (arrived) => dispatch(players, arrived) })
  return {
    url: listener.url,
    prepare: () => prepare(options, listener, players),
    close: () => listener.close(),
  }
}

const noted = (reply: Reply): ReturnType<OnArrival> => ({ reply, ended: () => {} })

/** The newest lane comes first: a late request for earlier records is answered by their own lane. */
function dispatch(players: readonly Player[], arrived: Arrived): ReturnType<OnArrival> {
  for (const [place, player] of players.entries()) {
    const answered = player.answer(arrived)
    if (!answered) continue
    for (const earlier of players.slice(place + 1)) earlier.note(arrived)
    return answered
  }
  const target = sendTargetOf(arrived.feature)
  return noted(target ? notOurs(target) : status(404, 'retry', { error: `bellwire check has no path ${arrived.path}` }))
}

const sendTargetOf = (feature: Feature | undefined): Target | undefined =>
  targetsOf('send').find((target) => target.feature === feature)

async function prepare(options: PlatformRunOptions, listener: Listener, players: Player[]): Promise<Prepared> {
  const { facts, checks, mostMessages, firstId, features: declared, key, enqueue } = options
  const { url } = listener
  const make = createMessageMaker(facts, firstId)
  const take = (player: Player): void => void players.unshift(player)
  const endpoints = await findEndpoints(options, make, url, take)
  const { steps, messages, total } = planRun({ ...options, endpoints, gates })
  limitRecords(messages, mostMessages)
  const ofRun: PlatformRequest[] = []
  const laneOf = (target: Target, most: number): Lane =>
    createLane({ facts, target, make, url, key, mostMessages: most, enqueue, take, ofRun })
  const course = { queueOf, settle: () => sleep(facts.pace.quiet) }
  return {
    endpoints,
    notOffered: declared ? [] : features.filter((feature) => isSend(feature) && !endpoints.has(feature)),
    messages,
    total,
    mark: make.mark,
    run: (progress = {}) => runSteps(steps, laneOf, progress, checks, course).finally(() => listener.close()),
    close: () => void listener.close(),
  }
}

/** The lanes of both channels and the lists do not disturb each other. */
const queueOf = ({ feature, channel }: Target): string => (feature === 'reconciliation' ? feature : channel)

/** @throws CouldNotRun if a run needs more records than it may have */
export function limitRecords(needed: number, most: number): void {
  if (needed > most)
    throw new CouldNotRun(
      `the run would need up to ${needed} records, and --max-messages is ${most}`,
      'lower --batch-max, run a part with --only, or raise --max-messages',
    )
}

/** The size of a run with a platform that sends to these endpoints. */
export function planPlatformRun(options: Chosen<Lane>, sendsTo: readonly Feature[]): Planned {
  const endpoints = new Map([...sendsTo, 'reconciliation' as const].map((feature) => [feature, 'offered' as const]))
  return planRun({ ...options, endpoints, gates })
}

const isSend = (feature: Feature): boolean => feature !== 'reconciliation'

/** Has one record of each channel enqueued, and waits until it arrives. */
async function findEndpoints(
  { facts, enqueue, features: declared }: PlatformRunOptions,
  make: MessageMaker,
  url: string,
  take: (player: Player) => void,
): Promise<ReadonlyMap<Feature, EndpointState>> {
  const found = new Map<Feature, EndpointState>()
  const seen: string[] = []
  const wanted = channels.filter((channel) => !declared || declared.some((feature) => feature.startsWith(channel)))
  const records = new Map(wanted.map((channel) => [channel, make.message()]))
  take({
    note() {},
    answer({ feature, path, key, body, method }) {
      seen.push(
        `${method} ${path}${key === 'right' ? '' : key === 'none' ? ' without an API key' : ' with another API key'}`,
      )
      const { elements } = readBody(body)
      const element = elements.find((each) =>
        [...records.values()].some(({ idJson, text }) => idJson === idOf(each) || text.includes(hashOf(each))),
      )
      const target = sendTargetOf(feature)
      if (!target || !element) return undefined
      found.set(target.feature, key === 'right' || key === 'other' ? 'offered' : 'refused')
      const message = { record: make.message(), idJson: idOf(element), element, attempt: 1 }
      return noted(successful(target, { messages: [message] }))
    },
  })
  for (const [channel, record] of records)
    await enqueue({ channel, name: `${channel}-first`, records: [record] }).catch((error: Error) => {
      throw new CouldNotRun(error.message, 'the command or the person must have the records enqueued')
    })
  const isFound = (channel: Channel): boolean => [...found.keys()].some((feature) => feature.startsWith(channel))
  for (let waited = 0; waited < facts.pace.patience && !wanted.every(isFound); waited += pollMs) await sleep(pollMs)
  if (found.size === 0)
    throw new CouldNotRun(
      `none of the records that were enqueued arrived within ${facts.pace.patience / 1000} s${seen.length > 0 ? `. Arrived: ${[...new Set(seen)].join(', ')}` : ''}`,
      `check that the platform sends to ${url} (with the paths of §4.1), that it accepted the records, and its log. A batch is sent after its time span: choose a longer --patience than that`,
    )
  if (seen.length > 0 && seen.every((each) => each.endsWith('with another API key')))
    throw new CouldNotRun(
      'the platform sends another API key',
      'give the platform the key of --key, or give --key the key that it sends',
    )
  // Its checks are skipped if the platform's reconciliation is not prepared.
  found.set('reconciliation', 'offered')
  for (const feature of declared ?? []) if (isSend(feature) && !found.has(feature)) found.set(feature, 'absent')
  return found
}

const pollMs = 20
const hashOf = (element: Readonly<Record<string, unknown>>): string => {
  const { trigger_hash: hash } = activityOf(element)
  return typeof hash === 'string' && hash.startsWith('bellwire-check-') ? `"${hash}"` : '\n'
}
