import pg from 'pg'

export interface Listener {
  close(): Promise<void>
}

/** Hears every topic on the channel 'bellwire', on a connection of its own that is opened again when it is lost. */
export async function openListener(
  config: pg.ClientConfig,
  heard: (topic: string, backend: number) => void,
  gap: () => void,
): Promise<Listener> {
  let closed = false
  let again: NodeJS.Timeout | undefined
  let client = await open()

  async function open(): Promise<pg.Client> {
    const opened = new pg.Client({
      ...config,
      application_name: 'bellwire listener',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    })
    opened.on('error', () => {})
    opened.on('notification', ({ payload, processId }) => heard(payload ?? '', processId))
    try {
      await opened.connect()
      await opened.query('listen bellwire')
    } catch (error) {
      await opened.end().catch(() => {})
      throw error
    }
    opened.once('end', () => {
      if (!closed) again = setTimeout(reopen, 50, 1)
    })
    return opened
  }

  async function reopen(attempt: number): Promise<void> {
    try {
      const opened = await open()
      if (closed) return void opened.end()
      client = opened
      gap()
    } catch {
      if (!closed) again = setTimeout(reopen, Math.random() * Math.min(5_000, 100 * 2 ** attempt), attempt + 1)
    }
  }

  return {
    async close() {
      closed = true
      clearTimeout(again)
      await client.end()
    },
  }
}
