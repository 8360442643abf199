import pg from 'pg'

export interface Listener {
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
    const opened = new pg.Client({
      ...config,
      application_name: 'bellwire listener',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    })
    opened.on('error', () => {})
    opened.on('notification', ({ payload, processId }) => onNotification(payload ?? '', processId))
    try {
      await opened.connect()
      await opened.query('listen bellwire')
    } catch (error) {
      await opened.end().catch(() => {})
      throw error
    }
    opened.once('end', () => {
      if (!closed) reopenTimer = setTimeout(reopen, 50, 1)
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
      if (!closed) reopenTimer = setTimeout(reopen, Math.random() * Math.min(5_000, 100 * 2 ** attempt), attempt + 1)
    }
  }

  return {
    async close() {
      closed = true
      clearTimeout(reopenTimer)
      await client.end()
    },
  }
}
