// Users are excluded and readmitted under load while the operator is killed: the stored proof of each message agrees with what the
// attribute source answered, and the check against the exclusions finds exactly the messages that a lying source let through.
//
// The witnesses are independent of the operator: the source of the proof, with the time line of all changes and every answer, and the
// push provider, which records each message in a file.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { postgresStore, type Store } from '../../bench/harness/stores.ts'
import { listenAt } from '../../src/base/runtime/local-server.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Message } from '../../src/subjects/providers/provider.ts'
import { admin } from '../harness/http.ts'
import type { Proof } from '../harness/proof.ts'
import { createSetup, type ProofSetup } from '../harness/setup.ts'
import { adminKey, apiKeys } from '../plans.ts'

const sizes = {
  small: { users: 100, batches: 10, batch: 50, kills: 2, liars: 10 },
  full: { users: 5_000, batches: 400, batch: 500, kills: 20, liars: 250 },
}
const senders = 4
const brand = '1'
/** Users beyond these numbers are those about whom the source lies. */
const firstUser = 1_000
const firstLiar = 900_000

interface Row extends Readonly<Record<string, string>> {
  readonly user: string
  readonly id: string
  readonly identifier: string
  readonly outcome: string
  readonly arrived: string
  readonly excluded_at_send: string
  readonly as_of: string
  readonly read_at: string
  readonly rule: string
}

interface Found {
  readonly ref: string
  readonly excluded_at: string
  readonly sent_at: string
  readonly certain: boolean
}

const permission = (
  name: string,
  openStore: () => Promise<Store | undefined>,
  needs: Pick<Proof, 'needs'> = {},
): Proof => ({
  name,
  ...needs,
  claims:
    'while users are excluded and readmitted and the operator is killed, the proof of each message agrees with the source, and the check finds exactly the messages after an exclusion',
  boundSeconds: { small: 180, full: 2_400 },
  async run({ small, folder, print }, signal) {
    const size = small ? sizes.small : sizes.full
    const source = await startSource()
    await using store = await openStore()
    try {
      const setup = await createSetup({
        folder,
        ...(store && { operatorStore: store.url }),
        operator: { attributes: source.url },
      })
      let operator = setup.operator()
      await operator.ready
      const restart = async (): Promise<void> => {
        operator.signal('SIGKILL')
        await operator.ended
        operator = setup.operator()
        await operator.ready
      }
      const sender = createSender(setup, signal)
      const load = async (): Promise<void> => {
        let next = 0
        let killed = 0
        let restarted = Promise.resolve()
        const run = async (): Promise<void> => {
          for (let i = next++; i < size.batches; i = next++) {
            const users = Array.from({ length: size.batch }, (_, n) => userOf(i * size.batch + n, size.users))
            const sent = sender.send(users)
            changeSome(source, i, size)
            if (killed < size.kills && i >= ((killed + 1) * size.batches) / (size.kills + 1)) {
              killed++
              // A sender may reach its kill while another one waits for the new operator.
              restarted = restarted.then(restart)
              await restarted
            }
            await sent
          }
        }
        await Promise.all(Array.from({ length: senders }, run))
      }
      const [planted] = await Promise.all([plantViolations(source, sender, size.liars), load()])
      for (const user of source.excluded()) source.readmit(user)
      print(`${sender.outcomes.size} messages, ${source.exclusions.length - 1} exclusions, ${source.answers()} answers`)

      const [url = ''] = setup.operatorUrls
      const rows = await readProofs(url)
      const witness = await setup.readReport()
      const wrong = [
        ...rows.flatMap((row) => findDisagreement(row, source, sender.outcomes)),
        ...findWitnessed(rows, [...witness.messages.values()].flat()),
      ]
      assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} messages without a right proof`)
      assert.deepEqual(rows.map(({ id }) => id).toSorted(), [...sender.outcomes.keys()].toSorted())

      const began = performance.now()
      const checked = await admin<{ certain: number; unclear: number; found: Found[] }>(
        url,
        `/admin/permission/check?brand=${brand}`,
        source.exclusions.join('\n'),
        'text/csv',
      )
      const checkMs = Math.round(performance.now() - began)
      const byRef = new Map(rows.map((row) => [row.identifier, row]))
      const certain = checked.found.filter((each) => each.certain).map(({ ref }) => byRef.get(ref)?.id)
      assert.deepEqual(
        certain.toSorted(),
        planted.toSorted(),
        'the check finds the messages that the source let through',
      )
      const unclear = checked.found.filter((each) => !each.certain)
      for (const { ref, excluded_at: from, sent_at: sentAt } of unclear) {
        const { user = '', read_at: readAt = '' } = byRef.get(ref) ?? {}
        const changes = source.exclusions.filter((line) => line.startsWith(`${user},${from},`))
        const isUnderWay = changes.some((line) => line.split(',').some((at) => readAt <= at && at <= sentAt))
        assert.ok(isUnderWay, `${ref} is unclear without a reason`)
      }
      return {
        messages: rows.length,
        delivered: witness.messages.size,
        refused: rows.filter(({ outcome }) => outcome === 'failed').length,
        exclusions: source.exclusions.length - 1,
        kills: size.kills,
        answers: source.answers(),
        violations: certain.length,
        unclear: checked.unclear,
        check_ms: checkMs,
      }
    } finally {
      source.close()
    }
  },
})

export const permissionProofs: readonly Proof[] = [
  permission('permission', async () => undefined),
  permission('permission-postgres', postgresStore, { needs: ['postgres'] }),
]

type Source = Awaited<ReturnType<typeof startSource>>

/** The operator's endpoint of attributes, with the time line. It never says that a liar's user is excluded. */
async function startSource() {
  const since = new Map<string, number>()
  const intervals = new Map<string, { readonly from: number; to: number }[]>()
  const answered = new Map<string, { readonly at: number; readonly excluded: boolean }[]>()
  const exclusions = ['user_id,excluded_at,readmitted_at']
  const isLiar = (user: string): boolean => Number(user) >= firstLiar
  let answers = 0
  const server = createServer(async (request, response) => {
    const { users } = JSON.parse(await text(request)) as { users: readonly string[] }
    const at = Date.now()
    const excluded = users.filter((user) => since.has(user) && !isLiar(user))
    const set = new Set(excluded)
    for (const user of users) {
      const log = answered.get(user) ?? []
      answered.set(user, log)
      log.push({ at, excluded: set.has(user) })
      answers++
    }
    response.end(JSON.stringify({ excluded, timestamp: new Date(at).toISOString() }))
  })
  return {
    url: `${await listenAt(server)}/`,
    exclusions,
    answers: () => answers,
    excluded: () => [...since.keys()],
    exclude(user: string): number {
      const at = Date.now()
      since.set(user, at)
      return at
    },
    readmit(user: string): number {
      const [from, to] = [since.get(user) as number, Date.now()]
      since.delete(user)
      intervals.set(user, [...(intervals.get(user) ?? []), { from, to }])
      exclusions.push([user, new Date(from).toISOString(), new Date(to).toISOString()].join(','))
      return to
    },
    /** Whether the source gave this answer about the user at this time, and gave it rightly. */
    answeredRightly(user: string, at: number, excluded: boolean): boolean {
      if (!answered.get(user)?.some((each) => each.at === at && each.excluded === excluded)) return false
      const ofUser = isLiar(user) ? [] : (intervals.get(user) ?? [])
      // In the millisecond of a change, both answers are right.
      if (ofUser.some(({ from, to }) => at === from || at === to)) return true
      return ofUser.some(({ from, to }) => from < at && at < to) === excluded
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const userOf = (n: number, users: number): string => String(firstUser + ((n * 7_919) % users))

/** Excludes the next users, and readmits those of some batches before: each user is excluded at least once. */
function changeSome(source: Source, batch: number, { users, batches }: { users: number; batches: number }): void {
  const each = Math.ceil((users * 1.5) / batches)
  for (const user of source.excluded().slice(0, each)) if (Number(user) < firstLiar && batch > 3) source.readmit(user)
  for (let i = 0; i < each; i++) {
    const user = String(firstUser + ((batch * each + i) % users))
    if (!source.excluded().includes(user)) source.exclude(user)
  }
}

type Sender = ReturnType<typeof createSender>

/** Sends messages as a platform does: until each has a final outcome, across the kills of the operator. */
function createSender({ operatorUrls: [url = ''] }: ProofSetup, signal: AbortSignal) {
  const outcomes = new Map<string, 'successful' | 'failed'>()
  const provider = operatorApi({ url, apiKey: apiKeys[brand] })({
    channel: 'push',
    mode: 'batch',
    max: 1_000,
    concurrency: 8,
  })
  let last = 0
  return {
    outcomes,
    /** One message to each user. @returns the ids */
    async send(users: readonly string[]): Promise<readonly string[]> {
      const messages = users.map((user) => messageTo(user, String(++last)))
      for (let open = messages; open.length > 0; ) {
        signal.throwIfAborted()
        const results = await provider.send(open, { deadline: Date.now() + 30_000, signal })
        open = open.filter(({ id }, i) => {
          const category = results[i]?.category ?? 'fatal'
          if (category !== 'fatal') outcomes.set(id, category)
          return category === 'fatal'
        })
        if (open.length > 0) await sleep(50)
      }
      return messages.map(({ id }) => id)
    },
  }
}

function messageTo(userId: string, id: string): Message {
  const activity = `{"id":${id},"brand_id":${brand},"user_id":"${userId}","activity_id":7,"action_group_id":8,"trigger_hash":"h","action_id":9}`
  const message = { brand, channel: 'push', id, userId, key: '', ref: '', attempt: 1, context: {} } as const
  return { ...message, text: `{"activity":${activity},"title":"Hello","body":"There"}` }
}

/** Messages before, during and after an exclusion that the source does not tell. @returns the ids of those during it */
async function plantViolations(source: Source, sender: Sender, count: number): Promise<readonly string[]> {
  const users = Array.from({ length: count }, (_, i) => String(firstLiar + i))
  await sender.send(users)
  await isPast(Math.max(...users.map((user) => source.exclude(user))))
  const planted = await sender.send([...users, ...users])
  await isPast(Date.now())
  await isPast(Math.max(...users.map((user) => source.readmit(user))))
  await sender.send(users)
  return planted
}

async function isPast(at: number): Promise<void> {
  while (Date.now() <= at) await sleep(1)
}

async function readProofs(url: string): Promise<readonly Row[]> {
  const response = await fetch(new URL(`/admin/permission.csv?brand=${brand}&from=2000-01-01&to=2100-01-01`, url), {
    headers: { 'x-api-key': adminKey },
  })
  assert.equal(response.status, 200)
  return parse(await response.text(), { columns: true }) as Row[]
}

function findDisagreement(row: Row, source: Source, outcomes: Sender['outcomes']): readonly string[] {
  const { user, id, outcome, arrived, excluded_at_send: value, as_of: asOf, read_at: readAt, rule } = row
  const excluded = value === 'yes'
  const expected = excluded ? ['failed', 'excluded'] : ['successful', 'nothing forbids it']
  const wrong = [
    ...(outcome === outcomes.get(id) ? [] : [`it was answered ${outcomes.get(id)}`]),
    ...(outcome === expected[0] && rule === expected[1] ? [] : [`${rule} does not lead to ${outcome}`]),
    ...(arrived === 'no' || arrived === 'unknown' || !excluded ? [] : ['it arrived, although the user was excluded']),
    ...(source.answeredRightly(user, Date.parse(asOf), excluded) ? [] : ['the source gave no such answer']),
    ...(readAt <= asOf ? [] : ['it was read after the answer']),
  ]
  return wrong.map((why) => `${id} to ${user} (${JSON.stringify(row)}): ${why}`)
}

/** Messages that the provider got otherwise than the operator says. */
function findWitnessed(rows: readonly Row[], seen: readonly { readonly ref: string; readonly id: string }[]): string[] {
  const byId = new Map(seen.map((each) => [each.id, each]))
  return rows.flatMap(({ id, identifier, arrived }) => {
    const got = byId.get(id)
    if (got && got.ref !== identifier) return [`${id}: the provider got it as ${got.ref}`]
    if (got ? arrived !== 'no' : arrived !== 'yes') return []
    return [`${id}: the operator says that it arrived: ${arrived}, and the provider ${got ? 'got it' : 'did not'}`]
  })
}
