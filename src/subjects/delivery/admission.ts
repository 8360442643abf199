// Admission: while a push service is paused, a message for it is refused before it is claimed. A refused attempt only reads:
// an outage of an hour leaves no more rows behind than an outage of a second.

import { emit } from '../../base/runtime/events.ts'
import type { Database } from '../../base/store/database.ts'
import type { Fatal, Successful } from '../../contract/outcome.ts'
import type { Message, Pause } from '../providers/provider.ts'
import { readClaims } from './claim.ts'
import type { Delivery } from './delivery.ts'
import type { ClaimedBefore } from './messages.ts'

export type Verdict =
  | {
      readonly admitted: true /** The paused service that this message probes: no other message does until release(). */
      readonly probedService?: string
    }
  | { readonly admitted: false; readonly result: Fatal | Successful }

export interface Admission {
  /** One verdict for each message, in order. Undefined: nothing is paused, all messages are admitted. Never rejects. */
  admit(messages: readonly Message[]): Promise<readonly Verdict[]> | undefined
  /**
   * Refuses messages before they are claimed. A message that was delivered before gets its first answer, and a message that was
   * claimed before keeps its identifier. Never rejects.
   */
  refuse(messages: readonly Message[], refusal: Fatal): Promise<readonly (Fatal | Successful)[]>
  /** To be called when the message that probes this service has its result. */
  release(probedService: string): void
}

const admitted: Verdict = { admitted: true }

/** @example const verdicts = await admission.admit(messages) */
export function createAdmission(database: Database, { findPauses }: Delivery): Admission {
  const probed = new Set<string>()

  async function admitEach(messages: readonly Message[], paused: ReturnType<Delivery['findPauses']>) {
    const pauses = (await paused) as readonly (Pause | undefined)[]
    const verdicts = pauses.map(admitOne)
    const refused = messages.filter((_, i) => !verdicts[i]?.admitted)
    if (refused.length === 0) return verdicts
    emit('messages.refused', { channel: refused[0]?.channel ?? '', count: refused.length })
    const rows = await readRows(refused)
    return verdicts.map((verdict, i) => {
      const row = rows.get(rowKey(messages[i] as Message))
      if (verdict.admitted || !row) return verdict
      return { admitted: false, result: refuseClaimed(verdict.result, row) } as const
    })
  }

  function admitOne(pause: Pause | undefined): Verdict {
    if (!pause) return admitted
    if (pause.restMs > 0 || probed.has(pause.name)) return { admitted: false, result: pause.refusal }
    probed.add(pause.name)
    return { admitted: true, probedService: pause.name }
  }

  async function readRows(messages: readonly Message[]): Promise<ReadonlyMap<string, ClaimedBefore>> {
    try {
      return new Map((await readClaims(database, messages)).map((row) => [rowKey(row), row]))
    } catch {
      // The store is unavailable too. The messages are fatal in either case.
      return new Map()
    }
  }

  return {
    admit(messages) {
      const paused = findPauses(messages)
      return paused && admitEach(messages, paused)
    },
    async refuse(messages, refusal) {
      const rows = await readRows(messages)
      return messages.map((message) => {
        const row = rows.get(rowKey(message))
        return row ? refuseClaimed(refusal, row) : refusal
      })
    },
    release: (service) => void probed.delete(service),
  }
}

/** A delivered message gets its first answer again. Any other message keeps its identifier. */
function refuseClaimed(result: Fatal | Successful, { brand, ref, state }: ClaimedBefore): Fatal | Successful {
  if (state !== 'successful') return { ...result, ref }
  emit('message.repeated', { brand, ref, category: 'successful' })
  return deliveredBefore(ref)
}

export const deliveredBefore = (ref: string): Successful => ({
  category: 'successful',
  ref,
  rule: 'row 29: delivered before',
})

const rowKey = ({ brand, key }: { readonly brand: string; readonly key: string }): string => `${brand} ${key}`
