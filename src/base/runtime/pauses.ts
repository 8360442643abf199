// The pauses of the providers and push services of this process. Each guard records its own: two guards may have providers of the same
// name, on two sides or before and after a reload, and the end of one guard says nothing about the other.

import { clock } from './clock.ts'
import { emit } from './events.ts'

export interface Pause {
  readonly provider: string
  /** A part of the provider. Absent: the whole provider. */
  readonly counterpart?: string | undefined
  readonly reason: string
  /** Epoch milliseconds. */
  readonly since: number
}

export interface PauseRecord {
  /** @param sending whether another part of the provider is sending */
  begin(pause: Pick<Pause, 'counterpart' | 'reason'> & { readonly forMs: number; readonly sending?: boolean }): void
  end(resumed?: Pick<Pause, 'counterpart'> & { readonly sending?: boolean }): void
  /** The guard has gone, with its pauses. */
  close(): void
}

interface Guarded {
  readonly provider: string
  readonly pauses: Map<string | undefined, Pause>
  sending: boolean
}

const guarded = new Set<Guarded>()

/** @example const pauses = recordPauses('fcm'); pauses.begin({ reason: '503', forMs: 30_000 }); pauses.end() */
export function recordPauses(provider: string): PauseRecord {
  const own: Guarded = { provider, pauses: new Map(), sending: true }
  guarded.add(own)
  return {
    begin({ counterpart, reason, forMs, sending = false }) {
      const { since = clock.now() } = own.pauses.get(counterpart) ?? {}
      own.pauses.set(counterpart, { provider, counterpart, reason, since })
      own.sending = sending
      emit('provider.paused', { provider, ...(counterpart !== undefined && { counterpart }), reason, forMs, sending })
    },
    end({ counterpart, sending = true } = {}) {
      own.pauses.delete(counterpart)
      own.sending = sending
      emit('provider.resumed', { provider, ...(counterpart !== undefined && { counterpart }), sending })
    },
    close: () => void guarded.delete(own),
  }
}

/** The pauses of all guards. */
export const currentPauses = (): readonly Pause[] => [...guarded].flatMap(({ pauses }) => [...pauses.values()])

/** Whether each provider is paused: a guard of it is not sending at all. */
export function pausedProviders(): ReadonlyMap<string, boolean> {
  const paused = new Map<string, boolean>()
  for (const { provider, sending } of guarded) paused.set(provider, !sending || (paused.get(provider) ?? false))
  return paused
}
