// A drill: each side in turn loses its SQLite files under load, and is restored from a backup that was made under load.

import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFeed } from '../harness/feed.ts'
import { enqueue, waitUntilSettled } from '../harness/http.ts'
import type { Figures, Proof, ProofOptions } from '../harness/proof.ts'
import { ndjson, records } from '../harness/records.ts'
import { assertSent, runCommand } from '../harness/send-command.ts'
import { createSetup, type ProofSetup } from '../harness/setup.ts'
import { findUndelivered } from '../harness/verdict.ts'
import { findNeedlessCalls } from '../harness/witness-report.ts'
import { apiKeys } from '../plans.ts'

const lane = { max: 100, spanMs: 20, concurrency: 8 }
/** Both channels of both brands. */
const mostInFlight = 4 * lane.concurrency * lane.max
/** At most this many records every 50 ms. */
const perRequest = { small: 10, full: 250 } as const

export const restore: Proof = {
  name: 'restore',
  claims:
    'backups are made under load; a platform that lost its files, and then an operator that lost its own, is restored: every record reaches its user, those that a restored platform sends again are recognized, and a restored operator delivers at most those twice that were in flight at its loss',
  boundSeconds: { small: 240, full: 3_600 },
  run: prove,
}

async function prove({ small, folder, print }: ProofOptions, signal: AbortSignal): Promise<Figures> {
  const before = small ? 300 : 200_000
  const stores = join(folder, 'stores')
  await mkdir(stores)
  const setup = await createSetup({
    folder,
    operatorStore: `sqlite:${join(stores, 'operator.db')}`,
    platformStore: `sqlite:${join(stores, 'platform.db')}`,
    lane,
  })
  const config = join(folder, 'bellwire.yaml')
  await writeFile(config, configuration(stores, setup))
  const sides = { operator: setup.operator(), platform: setup.platform() }
  await Promise.all([sides.operator.ready, sides.platform.ready])
  const [platformUrl, operatorUrl] = [setup.platformUrl, setup.operatorUrls[0] as string]
  const feed = createFeed(platformUrl, small ? perRequest.small : perRequest.full)

  const backUp = async (side: 'operator' | 'platform'): Promise<number> => {
    const began = performance.now()
    const url = side === 'operator' ? operatorUrl : platformUrl
    assertSent(await runCommand(['backup', side, '--out', join(folder, side), '--url', url]))
    return Math.round(performance.now() - began)
  }
  /** Kills the side, removes its files, restores them and starts the side. @returns the number of messages delivered before */
  const loseAndRestore = async (side: 'operator' | 'platform'): Promise<number> => {
    sides[side].signal('SIGKILL')
    await sides[side].ended
    const { messages } = await setup.readReport()
    for (const name of [`${side}.db`, `${side}-crm.db`])
      for (const end of ['', '-wal', '-shm']) await rm(join(stores, `${name}${end}`), { force: true })
    assertSent(await runCommand(['restore', join(folder, side), '--check', '--config', config]))
    assertSent(await runCommand(['restore', join(folder, side), '--no-erasures', '--config', config]))
    sides[side] = setup[side]()
    await sides[side].ready
    return messages.size
  }

  await feed.upTo(before)
  feed.start()
  const platformBackupMs = await backUp('platform')
  const afterBackup = feed.accepted()
  await feed.upTo(afterBackup + before)
  const delivered = await loseAndRestore('platform')
  await feed.stop()
  const sent = records(0, feed.accepted())
  // As a CRM that sends its records of the time since the backup again.
  const lost = await sendAgain(platformUrl, sent)
  assert.ok(lost > 0, 'the platform has lost no record: the backup was not before them')
  await waitUntilSettled(platformUrl, signal)
  let witness = await setup.readReport()
  assert.deepEqual(
    await findUndelivered(platformUrl, feed.accepted(), witness),
    [],
    'after the restore of the platform',
  )
  assert.equal(witness.secondCalls, 0, 'the restored platform has caused second deliveries')
  const recognized = delivered - (sent.length - lost)
  assert.ok(recognized > 0, 'the platform has sent no delivered message again')
  print(`${sent.length} records: the restored platform had lost ${lost}, and the operator recognized ${recognized}`)

  feed.start()
  const operatorBackupMs = await backUp('operator')
  await feed.upTo(feed.accepted() + before)
  const struck = new Set([sides.operator.pid])
  await loseAndRestore('operator')
  await feed.stop()
  await waitUntilSettled(platformUrl, signal)
  witness = await setup.readReport()
  assert.deepEqual(
    await findUndelivered(platformUrl, feed.accepted(), witness),
    [],
    'after the restore of the operator',
  )
  assert.deepEqual(findNeedlessCalls(witness, struck), [])
  assert.ok(witness.secondCalls <= mostInFlight, `${witness.secondCalls} second deliveries`)
  print(`${feed.accepted()} records: the restored operator has delivered ${witness.secondCalls} twice`)
  return {
    records: feed.accepted(),
    lost_by_platform: lost,
    recognized,
    second_deliveries: witness.secondCalls,
    bound: mostInFlight,
    platform_backup_ms: platformBackupMs,
    operator_backup_ms: operatorBackupMs,
  }
}

/** The configuration of `bellwire restore`: only the stores and the kind of the lanes count. */
function configuration(stores: string, { operatorUrls }: ProofSetup): string {
  const lanes = Object.entries(apiKeys).flatMap(([brand, key]) =>
    ['push', 'site'].map((channel) => ({
      brand: Number(brand),
      channel,
      to: { provider: 'operator-api', url: operatorUrls[0], api_key: key },
    })),
  )
  const keys = Object.entries(apiKeys).map(([brand, key]) => ({ name: `brand ${brand}`, key, brands: [Number(brand)] }))
  return JSON.stringify({
    operator: {
      store: `sqlite:${join(stores, 'operator.db')}`,
      keys,
      push: { provider: 'recording' },
      site: { provider: 'inbox' },
      suppression: 'none',
    },
    platform: { store: `sqlite:${join(stores, 'platform.db')}`, lanes },
  })
}

/** @returns the number of records that the platform did not know */
async function sendAgain(platformUrl: string, sent: ReturnType<typeof records>): Promise<number> {
  let unknown = 0
  for (let from = 0; from < sent.length; from += 2_000)
    unknown += (await enqueue(platformUrl, 'push', ndjson(sent.slice(from, from + 2_000)))).accepted
  return unknown
}
