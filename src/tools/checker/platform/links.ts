// §4.2, §4.3, rows 18 to 22: links and unlinks of devices, as an operator publishes them over each prepared channel.

import { clock } from '../../../base/runtime/clock.ts'
import { sleep } from '../../../base/runtime/sleep.ts'
import { deviceLink, deviceUnlink } from '../../../contract/endpoints.ts'
import { type Check, checksOf, decision, must, type Scenario } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { LinkChannel } from '../facts.ts'
import { isSuccess } from '../read-answer.ts'
import { answerOf, briefAnswer, expect, expectAnswer, NotJudged } from '../verdict.ts'
import type { Lane } from './lane.ts'

/** The events of one channel, in the order in which they are published. */
interface Published {
  readonly channel: string
  readonly tokens: Readonly<Record<TokenName, string>>
  /** The reasons of events that were not accepted. */
  readonly refused: readonly string[]
  /** The reason if a repeated event was not accepted. */
  readonly repeated: string | undefined
  /** Whether the channel has headers that the platform ignores. */
  readonly hasHeaders: boolean
  /** Devices of the user, as the platform lists them. undefined: no command prints them. */
  readonly listed: string | undefined
  /** The device that is moved to another user: that user's devices, or the reasons why the events were not accepted. */
  readonly moved: { readonly listed: string | undefined; readonly refused: readonly string[] }
}

/**
 * removed: linked, then unlinked. late: its unlink arrives before its link. next: linked after an event that cannot be read.
 * headed: linked by a message with the header of an unlink. moved: linked, then linked by another user. stays: the same, then unlinked by the first user.
 */
const tokenNames = ['removed', 'kept', 'late', 'next', 'moved', 'stays', 'headed'] as const
type TokenName = (typeof tokenNames)[number]

const pollMs = 250
/** It is cut. */
const unreadableEvent = '{"user_id": "bellwire-check"'

const published: Scenario<readonly Published[], Lane> = {
  scope: 'first',
  needs: ['channel of device links'],
  messages: 0,
  async run(lane) {
    const { facts } = lane
    const channels = [...(facts.platform?.linkKey === undefined ? [] : [overRest(lane)]), ...(facts.links ?? [])]
    const all: Published[] = []
    for (const [place, channel] of channels.entries()) all.push(await publishOver(lane, channel, place))
    return all
  },
}

type PublishingChannel = Omit<LinkChannel, 'close'>

async function publishOver(lane: Lane, channel: PublishingChannel, place: number): Promise<Published> {
  const { facts, make } = lane
  const { normal: user, other = `${user}-2` } = facts.users
  // Some lists show only the first six characters of a token.
  const tokenOf = (name: TokenName): string => {
    const letter = String.fromCharCode(65 + place * tokenNames.length + tokenNames.indexOf(name))
    return `${letter}${make.mark.slice(-5)}-bellwire-check-${name}`
  }
  const tokens = Object.fromEntries(tokenNames.map((name) => [name, tokenOf(name)])) as Record<TokenName, string>
  const from = clock.now() - 60_000
  const refused: string[] = []
  const publish = async (what: 'link' | 'unlink', name: TokenName, second: number): Promise<string | undefined> => {
    const problem = await channel.publish(what, user, recordOf(user, tokens[name], from + second * 1_000))
    if (problem !== undefined) refused.push(`${what} of ${name}: ${problem}`)
    return problem
  }
  await publish('link', 'removed', 1)
  await publish('unlink', 'removed', 2)
  await publish('link', 'kept', 3)
  await publish('unlink', 'late', 5)
  await publish('link', 'late', 4)
  await channel.publish('link', user, unreadableEvent)
  await publish('link', 'next', 6)
  const repeated = await channel.publish('link', user, recordOf(user, tokens.next, from + 6_000))
  const headed = await channel.linkWithHeader?.(user, recordOf(user, tokens.headed, from + 6_000))
  if (headed !== undefined) refused.push(`link with a header: ${headed}`)
  const hasHeaders = channel.linkWithHeader !== undefined
  const moves: (string | undefined)[] = []
  for (const name of ['moved', 'stays'] as const) {
    moves.push(await channel.publish('link', user, recordOf(user, tokens[name], from + 7_000)))
    moves.push(await channel.publish('link', other, recordOf(other, tokens[name], from + 8_000)))
  }
  moves.push(await channel.publish('unlink', user, recordOf(user, tokens.stays, from + 9_000)))
  const moved = {
    refused: moves.filter((problem) => problem !== undefined),
    listed: await readDevices(lane, other, [tokens.moved, tokens.stays]),
  }
  const listed = await readDevices(lane, user, [tokens.kept, tokens.next])
  for (const name of ['kept', 'next', ...(hasHeaders ? (['headed'] as const) : [])] as const)
    await channel.publish('unlink', user, recordOf(user, tokens[name], from + 10_000))
  for (const name of ['moved', 'stays'] as const)
    await channel.publish('unlink', other, recordOf(other, tokens[name], from + 10_000))
  return { channel: channel.name, tokens, refused, repeated, hasHeaders, listed, moved }
}

/** Reads the devices of a user until all of these are listed, then once more after a pause. */
async function readDevices(
  { facts: { devices, pace } }: Lane,
  user: string,
  expected: readonly string[],
): Promise<string | undefined> {
  if (devices === undefined) return undefined
  const until = clock.monotonic() + pace.patience
  while (clock.monotonic() < until) {
    const text = await devices(user)
    if (expected.every((token) => isListed(text, token))) break
    await sleep(pollMs)
  }
  await sleep(pace.quiet)
  return devices(user)
}

const isListed = (text: string, token: string): boolean => text.includes(token.slice(0, 6))

function recordOf(user: string, token: string, at: number): string {
  const tokens = [{ token, channel: 'android', provider: 'firebase' }]
  return JSON.stringify({ user_id: user, tokens, timestamp: new Date(at).toISOString(), origin: 'bellwire-check' })
}

function overRest({ call }: Lane): PublishingChannel {
  return {
    name: 'REST',
    async publish(what, _, body) {
      const { path } = what === 'link' ? deviceLink : deviceUnlink
      const answer = answerOf(await call({ label: `${what} over REST`, path, body }))
      return isSuccess(answer) ? undefined : briefAnswer(answer)
    },
  }
}

/**
 * Expects on each channel that the device is listed, or is not.
 *
 * @throws NotJudged if an event was not accepted
 */
function expectDevice(all: readonly Published[], name: TokenName, expected: 'listed' | 'absent', seen: string): void {
  for (const { channel, tokens, refused, listed = '' } of all) {
    if (refused.length > 0) throw new NotJudged(`${channel}: an event was not accepted: ${refused[0]}`)
    expect(isListed(listed, tokens[name]) === (expected === 'listed'), `${channel}: ${seen}`)
  }
}

const list = ['list of devices'] as const

const publishedChecks = checksOf(published, [
  {
    ...decision('link.accepted', '§4.2, §4.3', 18),
    title: 'Links and unlinks are accepted on each channel.',
    consequence: 'The platform misses devices, and sends to devices that belong to somebody else now.',
    remedy:
      'Accept the record of the agreed form: user_id, tokens, timestamp, origin. Ignore members that you do not use.',
    judge: (all) => {
      for (const { channel, refused } of all) expect(refused.length === 0, `${channel}: ${refused.join('; ')}`)
    },
  },
  {
    ...decision('link.listed', '§4.2, §4.3', 18),
    needs: list,
    title: 'A linked device is a device of the user.',
    consequence: 'The user gets no push on this device.',
    remedy: 'Store each link before you confirm it, and acknowledge a message of a broker only then.',
    judge: (all) => expectDevice(all, 'kept', 'listed', 'the linked device is not listed'),
  },
  {
    ...decision('link.order', '§4.3', 20),
    needs: list,
    title: 'An unlink that follows a link removes the device.',
    consequence: 'A person who has logged out gets the pushes of the account, with its data.',
    remedy: 'Process the events of one user in their order: one consumer for each queue, or the user_id as the key.',
    judge: (all) => expectDevice(all, 'removed', 'absent', 'the device is listed, although it was unlinked'),
  },
  {
    ...decision('link.late', '§4.3', 20),
    needs: list,
    title: 'A link that arrives after a later unlink changes nothing.',
    consequence: 'After a retry or a restart of the operator, devices come back that were unlinked.',
    remedy: 'Compare the timestamps of the events, and keep the time of the last unlink of a token.',
    judge: (all) => expectDevice(all, 'late', 'absent', 'a link with an earlier timestamp than its unlink was applied'),
  },
  {
    ...decision('link.moved', '§4.3', 20),
    needs: list,
    title:
      'A device that another user links is a device of that user alone, also after a later unlink of the former user.',
    consequence: 'The pushes of one person, with their data, reach another person.',
    remedy: 'Let a token belong to the user of its latest link. Apply an unlink only to the links of its own user.',
    judge: (all) => {
      for (const { channel, tokens, listed = '', moved } of all) {
        if (moved.refused.length > 0) throw new NotJudged(`${channel}: an event was not accepted: ${moved.refused[0]}`)
        expect(!isListed(listed, tokens.moved), `${channel}: the device is still listed for the former user`)
        for (const token of [tokens.moved, tokens.stays])
          expect(isListed(moved.listed ?? '', token), `${channel}: the device is not listed for its new user`)
      }
    },
  },
  {
    ...must('link.header', '§4.3'),
    needs: [...list, 'queue of device links'],
    title: 'On a message-queue broker the type of an event is the property of the message, and headers are ignored.',
    consequence: 'An operator whose library sends headers of its own links and unlinks the wrong devices.',
    remedy:
      'Read the property `type` of the message, and no header. Only on a streaming platform the type is a header.',
    judge: (all) =>
      expectDevice(
        all.filter(({ hasHeaders }) => hasHeaders),
        'headed',
        'listed',
        'a link with the header type: USER_DEVICE_UNLINK was not applied as a link',
      ),
  },
  {
    ...decision('link.next', '§4.3', 22),
    needs: list,
    title: 'After an event that cannot be read, the next ones are applied.',
    consequence: 'One wrong message stops the links of all users.',
    remedy: 'Move a message that cannot be read to a list for people, acknowledge it, and go on.',
    judge: (all) => expectDevice(all, 'next', 'listed', 'the link after the unreadable event is missing'),
  },
  {
    ...decision('link.repeated', '§4.2, §4.3', 20),
    title: 'An event that arrives twice is accepted twice.',
    consequence: 'The operator repeats the event for ever, and the events of this user wait behind it.',
    remedy: 'Answer a known event as the first time.',
    judge: (all) => {
      for (const { channel, repeated } of all)
        expect(repeated === undefined, `${channel}: the repeated link was not accepted: ${repeated}`)
    },
  },
])

/** The answers of both endpoints: to a link, and to an unlink. */
const refusals = {
  scope: 'first',
  needs: ['key for device links'],
  messages: 0,
  async run({ facts, make, call }) {
    const body = recordOf(facts.users.normal, `Z${make.mark.slice(-5)}-bellwire-check-key`, clock.now())
    const unreadable: Exchange[] = []
    const wrongKey: Exchange[] = []
    for (const [name, { path }] of [
      ['a link', deviceLink],
      ['an unlink', deviceUnlink],
    ] as const) {
      unreadable.push(await call({ label: `${name} that is not JSON`, path, body: unreadableEvent }))
      wrongKey.push(await call({ label: `${name} with another key`, path, key: 'other', body }))
      wrongKey.push(await call({ label: `${name} without a key`, path, key: 'none', body }))
    }
    return { unreadable, wrongKey }
  },
} satisfies Scenario<unknown, Lane>

const refusalChecks = checksOf(refusals, [
  {
    ...decision('link.unreadable', '§4.2', 19),
    title: 'A link or an unlink that cannot be read is answered with status 400, 413 or 422.',
    consequence: 'With another status the operator repeats the event for ever.',
    remedy: 'Answer 400 with an error that names the fault.',
    judge: ({ unreadable }) => {
      for (const exchange of unreadable) expectAnswer(exchange, ({ status }) => [400, 413, 422].includes(status))
    },
  },
  {
    ...decision('link.key', '§5', 15),
    title: 'A link or an unlink with a wrong API key, or without one, is answered with status 401 or 403.',
    consequence: 'Anybody can link their own device to any user and read the pushes, or stop the pushes of a user.',
    remedy: 'Compare the API key before you read the body, on each of these endpoints.',
    judge: ({ wrongKey }) => {
      for (const exchange of wrongKey) expectAnswer(exchange, ({ status }) => status === 401 || status === 403)
    },
  },
])

export const linkChecks: readonly Check<Lane>[] = [...publishedChecks, ...refusalChecks]
