import type pg from 'pg'
import { clock } from '../runtime/clock.ts'
import { random } from '../runtime/random.ts'
import { connected, createClient } from './postgres-client.ts'
import { wakeChannel } from './wakers.ts'

export interface Listener {
  /** Opens a new connection. */
  reopen(): void
  close(): Promise<void>
}

/** Listens to all topics on a separate connection. On a reconnection, notifications may have been lost before it. */
export async function openListener(
  config: pg.ClientConfig,
  onNotification: (topic: string, backend: number) => void,
  onReconnect: () => void,
): Promise<Listener> {
  let closed = false
  let reopenTimer: NodeJS.Timeout | undefined
  let client = await open()

  async function open(): Promise<pg.Client> {
    const opened = createClient({ ...config, application_name: 'bellwire listener' })
    opened.on('notification', ({ payload, processId }) => onNotification(payload ?? '', processId))
    await connected(opened, async () => {
      const { rows } = await opened.query<{ channel: string }>(`select ${wakeChannel} as channel`)
      await opened.query(`listen ${rows[0]?.channel}`)
    })
    opened.once('end', () => {
      if (!closed) reopenTimer = clock.setTimeout(() => reopen(1), 50)
    })
    return opened
  }

  async function reopen(attempt: number): Promise<void> {
    try {
      const opened = await open()
      if (closed) return void opened.end()
      client = opened
      onReconnect()
    } catch {
      if (!closed)
        reopenTimer = clock.setTimeout(
          () => reopen(attempt + 1),
          random.fraction() * Math.min(5_000, 100 * 2 ** attempt),
        )
    }
  }

  return {
    reopen: () => void client.end().catch(() => {}),
    async close() {
      closed = true
      clock.clearTimeout(reopenTimer)
      await client.end()
    },
  }
}
