// The real fault of each alert rule, and its remedy.

import assert from 'node:assert/strict'
import { admin } from '../../harness/http.ts'
import { retryUntil } from '../../harness/retry-until.ts'
import { brandOf, type Changes, deadUsers, excludedUsers, type Name, type Sides } from './sides.ts'

export interface Fault {
  /** The labels of the alert, so that no other fault is taken for this one. */
  readonly labels?: (sides: Sides) => Readonly<Record<string, string>>
  /** Absent: another fault causes this alert, too. */
  readonly begin?: (sides: Sides, signal: AbortSignal) => Promise<unknown>
  /** Done once a second, until the remedy. */
  readonly repeat?: (sides: Sides) => Promise<unknown>
  /** The remedy. Absent: time alone. */
  readonly end?: (sides: Sides, signal: AbortSignal) => Promise<unknown>
}

const laneOf = (brand: number) => () => ({ lane: `${brand}/push` })
const instance = (name: Name) => (sides: Sides) => ({ instance: sides.addressOf(name) })

const control = (sides: Sides, act: 'pause' | 'resume', brand: number) =>
  admin(sides.adminOf('platform'), `/admin/lanes/${act}`, {
    lane: `${brand}/push`,
    ...(act === 'pause' && { reason: 'the proof' }),
  })

async function reload(sides: Sides, name: Name, changes: Partial<Changes>): Promise<void> {
  Object.assign(sides.changes, changes)
  assert.equal(await sides.reload(name), 200, name)
}

/** Compares the list of excluded users with the CRM. @returns the name of the run */
async function reconcile(sides: Sides, signal: AbortSignal): Promise<string> {
  const at = sides.adminOf('platform')
  const { run } = await admin<{ run: string }>(at, '/admin/reconciliations', {
    brand: brandOf.ordinary,
    field: 'excluded',
  })
  await retryUntil(async () => {
    const { state } = await admin<{ state: string }>(at, `/admin/reconciliations/${run}`)
    assert.equal(state, 'done')
  }, signal)
  return run
}

/** By the name of the rule, in the order of deploy/prometheus/rules.yml. */
export const faults: Readonly<Record<string, Fault>> = {
  // It hangs. Another operator is killed: BellwireLaneHeld.
  BellwireDown: {
    labels: instance('hung'),
    begin: async (sides) => sides.signal('hung', 'SIGSTOP'),
    end: async (sides) => sides.signal('hung', 'SIGCONT'),
  },
  BellwireStoreDown: {
    labels: instance('full'),
    begin: async ({ disk }) => disk.fill(),
    end: async ({ disk }) => disk.free(),
  },
  BellwireDiskLow: { labels: instance('full') },
  BellwireLaneHeld: {
    labels: laneOf(brandOf.goneOperator),
    begin: async (sides) => sides.signal('gone', 'SIGKILL'),
    end: (sides) => sides.start('gone'),
  },
  BellwireLanePaused: {
    labels: laneOf(brandOf.pausedLane),
    begin: (sides) => control(sides, 'pause', brandOf.pausedLane),
    end: (sides) => control(sides, 'resume', brandOf.pausedLane),
  },
  BellwireLaneUnserved: {
    labels: laneOf(brandOf.removedLane),
    async begin(sides) {
      await control(sides, 'pause', brandOf.removedLane)
      await sides.send(brandOf.removedLane, ['someone'])
      await reload(sides, 'platform', { withoutLane: brandOf.removedLane })
    },
    async end(sides) {
      await reload(sides, 'platform', { withoutLane: undefined })
      await control(sides, 'resume', brandOf.removedLane)
    },
  },
  BellwireMessagesWait: { labels: laneOf(brandOf.pausedLane) },
  BellwireFailedActions: {
    labels: laneOf(brandOf.excludedUsers),
    begin: (sides) => sides.send(brandOf.excludedUsers, excludedUsers),
  },
  BellwireAttention: {
    labels: () => ({ provider: `${brandOf.refusedKey}/push` }),
    begin: (sides) => reload(sides, 'main', { keyOfRefused: 'another-key-of-brand-5' }),
    end: (sides) => reload(sides, 'main', { keyOfRefused: sides.apiKeyOf(brandOf.refusedKey) }),
  },
  BellwireServicePaused: {
    labels: () => ({ provider: 'apns' }),
    async begin(sides) {
      sides.ends.apns = sides.apns.play({
        answer: { status: 503, headers: { 'retry-after': '20' }, body: '{"reason":"ServiceUnavailable"}' },
      })
    },
    end: async (sides) => sides.ends.apns?.(),
  },
  BellwireRemovalsStopped: {
    labels: () => ({ service: 'fcm' }),
    async begin(sides) {
      for (const token of sides.ends.dead) sides.fcm.forget(token)
      await sides.send(brandOf.deadDevices, deadUsers)
    },
    end: (sides) => admin(sides.adminOf('main'), '/admin/devices/removals/confirm', { service: 'fcm' }),
  },
  BellwireNoText: {
    labels: () => ({ brand: String(brandOf.noText) }),
    async begin(sides) {
      await reload(sides, 'changing', { content: { title: '/headline', body: '/text' } })
      await sides.send(
        brandOf.noText,
        Array.from({ length: 12 }, (_, n) => `reader ${n}`),
        'site',
      )
    },
    end: (sides) => reload(sides, 'changing', { content: undefined }),
  },
  BellwireAttributesAway: {
    async begin({ attributes }) {
      attributes.away = true
    },
    async end({ attributes }) {
      attributes.away = false
    },
  },
  BellwireListShrunk: {
    begin: async ({ users }) => users.write({ excluded: true, listed: 20 }),
    end: async ({ users }) => users.confirm(),
  },
  BellwireNotConsumed: {
    begin: ({ broker }) => broker.broker.kill(),
    end: ({ broker }) => broker.broker.restart(),
  },
  BellwireStatusesNotPolled: { labels: laneOf(brandOf.goneOperator) },
  BellwireDiscrepancies: {
    labels: () => ({ brand: String(brandOf.ordinary), field: 'excluded' }),
    // The file of attributes was written for BellwireListShrunk.
    async begin(sides, signal) {
      sides.ends.run = await reconcile(sides, signal)
    },
    async end(sides, signal) {
      await admin(sides.adminOf('platform'), `/admin/reconciliations/${sides.ends.run}/correct`, { what: 'tighten' })
      await reconcile(sides, signal)
    },
  },
  BellwireRequestsFail: {
    labels: () => ({ side: 'operator', method: 'POST', route: '/channels/push/single' }),
    repeat: (sides) => sides.call('full', brandOf.fullDisk),
  },
  BellwireKeysRefused: {
    labels: instance('main'),
    repeat: (sides) => sides.call('main', brandOf.ordinary, 'a-key-that-nobody-has'),
  },
  BellwireKeyExpires: {
    labels: () => ({ key: `brand ${brandOf.noText}` }),
    begin: (sides) => reload(sides, 'changing', { expiresAt: new Date(Date.now() + 7 * 86_400_000).toISOString() }),
    end: (sides) => reload(sides, 'changing', { expiresAt: undefined }),
  },
  BellwireReloadRefused: {
    labels: instance('changing'),
    async begin(sides) {
      sides.changes.unknownSetting = true
      assert.notEqual(await sides.reload('changing'), 200)
      sides.changes.unknownSetting = false
      await sides.reload('changing')
    },
  },
  // Of a paused lane: BellwireLanePaused.
  BellwireCanary: { labels: () => ({ brand: String(brandOf.pausedLane), channel: 'push' }) },
}
