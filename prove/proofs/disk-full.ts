import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgres, query } from '../../test/support/services/postgres.ts'
import { mountSmallDisk } from '../../test/support/small-disk.ts'
import { enqueue, expandRanges, waitUntilSettled } from '../harness/http.ts'
import type { Process } from '../harness/process.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, records } from '../harness/records.ts'
import { createSetup } from '../harness/setup.ts'
import { assertBothSidesAgree } from '../harness/verdict.ts'

const lane = { max: 10, spanMs: 5, concurrency: 4, retry: { firstMs: 50, mostMs: 1_000 } }
/** The messages of the calls in progress, and of as many calls without a written outcome, for one lane of each brand. */
const mostRepeated = 2 * (2 * lane.concurrency * lane.max)
const followWithinMs = 2_000

/** The stores of both sides, which accept no writes between begin() and end(). */
interface Outage extends AsyncDisposable {
  readonly operatorStore: string
  readonly platformStore: string
  begin(): Promise<void>
  end(): Promise<void>
}

export const diskFullProofs: readonly Proof[] = [
  proofOn('disk-full', 'the disk of both SQLite files is full', [], fullDisk),
  proofOn('disk-full-postgres', 'PostgreSQL of both sides is read-only', ['postgres'], readOnlyServer),
]

function proofOn(
  name: string,
  outageDescription: string,
  needs: NonNullable<Proof['needs']>,
  prepare: () => Promise<Outage>,
): Proof {
  return {
    name,
    claims: `${outageDescription}, twice, the second time with kills of both sides: nothing is lost, a kill repeats at most twice the calls in progress, /readyz and bellwire_store_up follow within 2 s both ways`,
    needs,
    boundSeconds: { small: 180, full: 600 },
    async run(options, signal) {
      await using outage = await prepare()
      return await prove(options, outage, signal)
    },
  }
}

async function prove({ small, folder, print }: ProofOptions, outage: Outage, signal: AbortSignal): Promise<Figures> {
  const outageMs = small ? 3_000 : 30_000
  const count = small ? 500 : 10_000
  const { operatorStore, platformStore } = outage
  const setup = await createSetup({ folder, operatorStore, platformStore, lane })
  const urls = [setup.operatorUrls[0] as string, setup.platformUrl]
  let [operator, platform] = [setup.operator(), setup.platform()]
  await Promise.all([operator.ready, platform.ready])
  const sent: { record: ReturnType<typeof records>[number]; seq: number }[] = []
  async function send(from: number): Promise<void> {
    const list = records(from, count)
    const { seqs } = await enqueue(setup.platformUrl, 'push', ndjson(list))
    expandRanges(seqs).forEach((seq, i) => void sent.push({ record: list[i] as (typeof list)[number], seq }))
    // The outage begins while calls are in progress.
    while ((await setup.readReport()).messages.size < from + 50) await sleep(10, undefined, { signal })
  }

  await send(0)
  await outage.begin()
  const lostMs = await Promise.all(urls.map((url) => untilState(url, false, signal)))
  await sleep(outageMs, undefined, { signal })
  const during = (await setup.readReport()).messages.size
  await outage.end()
  const backMs = await Promise.all(urls.map((url) => untilState(url, true, signal)))
  await waitUntilSettled(setup.platformUrl, signal)
  const withoutKills = (await setup.readReport()).secondCalls
  print(`without kills: ${during} of ${count} were sent when the outage ended, ${withoutKills} second calls`)

  // A stop removes the log of SQLite. In an old log, a full disk has room for many more commits.
  for (const process of [operator, platform]) process.signal('SIGTERM')
  await Promise.all([operator.ended, platform.ended])
  ;[operator, platform] = [setup.operator(), setup.platform()]
  await Promise.all([operator.ready, platform.ready])
  await send(count)
  await outage.begin()
  await Promise.all(urls.map((url) => untilState(url, false, signal)))
  await sleep(outageMs / 2, undefined, { signal })
  await Promise.all([operator, platform].map(kill))
  await sleep(outageMs / 2, undefined, { signal })
  await outage.end()
  ;[operator, platform] = [setup.operator(), setup.platform()]
  await Promise.all([operator.ready, platform.ready])
  await waitUntilSettled(setup.platformUrl, signal)

  const report = await setup.readReport()
  const [lost, back] = [Math.max(...lostMs), Math.max(...backMs)]
  print(
    `noticed within ${lost} ms, back within ${back} ms; ${report.secondCalls} second calls of ${2 * count} messages`,
  )
  await assertBothSidesAgree(sent, setup.platformUrl, report)
  assert.ok(lost <= followWithinMs && back <= followWithinMs, `noticed within ${lost} ms, back within ${back} ms`)
  // The operator repeats a call whose outcome it could not store, when the platform sends the message again.
  const withKills = report.secondCalls - withoutKills
  assert.ok(withoutKills <= mostRepeated, `${withoutKills} second calls without kills`)
  assert.ok(withKills <= mostRepeated, `${withKills} second calls with kills`)
  return { messages: 2 * count, second_calls: report.secondCalls, noticed_ms: lost, back_ms: back }
}

async function kill(process: Process): Promise<void> {
  process.signal('SIGKILL')
  await process.ended
}

/** @returns how long it took until /readyz and bellwire_store_up said so, in milliseconds */
async function untilState(url: string, up: boolean, signal: AbortSignal): Promise<number> {
  const began = performance.now()
  for (;;) {
    signal.throwIfAborted()
    const [ready, metrics] = await Promise.all([
      fetch(`${url}/readyz`).then(({ status }) => status === 200),
      fetch(`${url}/metrics`).then((response) => response.text()),
    ])
    if (ready === up && metrics.includes(`\nbellwire_store_up ${up ? 1 : 0}\n`))
      return Math.round(performance.now() - began)
    await sleep(50)
  }
}

async function fullDisk(): Promise<Outage> {
  const [ofOperator, ofPlatform] = [mountSmallDisk(128), mountSmallDisk(128)]
  return {
    operatorStore: `sqlite:${ofOperator.folder}/operator.db`,
    platformStore: `sqlite:${ofPlatform.folder}/platform.db`,
    async begin() {
      ofOperator.fill()
      ofPlatform.fill()
    },
    async end() {
      ofOperator.free()
      ofPlatform.free()
    },
    async [Symbol.asyncDispose]() {
      ofOperator.remove()
      ofPlatform.remove()
    },
  }
}

async function readOnlyServer(): Promise<Outage> {
  const { url: server } = await postgres()
  const name = `readonly_${randomBytes(6).toString('hex')}`
  await query(server, `create database ${name}`)
  const storeOf = (schema: string): string => {
    const url = new URL(server)
    url.pathname = `/${name}`
    url.searchParams.set('schema', schema)
    return url.href
  }
  const setReadOnly = (value: boolean) =>
    query(server, `alter database ${name} set default_transaction_read_only = ${value}`)
  return {
    operatorStore: storeOf('operator'),
    platformStore: storeOf('platform'),
    async begin() {
      await setReadOnly(true)
      await query(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    },
    end: async () => void (await setReadOnly(false)),
    [Symbol.asyncDispose]: async () => void (await query(server, `drop database ${name} with (force)`)),
  }
}
