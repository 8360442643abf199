// The child's side of harness/child.ts: remote procedure calls over IPC.

type Procedure = (value: never) => unknown

/**
 * Handles the parent's calls. Every child has 'cpu', the microseconds of CPU of all threads since its start, and
 * 'peakMb', its peak memory.
 *
 * @example handleCalls({ port: () => 8080, fill: async (rows: number) => { … } })
 */
export function handleCalls(table: Readonly<Record<string, Procedure>>): void {
  const procedures: Readonly<Record<string, Procedure>> = { cpu: cpuUs, peakMb, ...table }
  process.on('message', async ({ id, name, value }: { id: number; name: string; value: never }) => {
    const procedure = procedures[name]
    try {
      if (!procedure) throw new Error(`this process has no procedure '${name}'`)
      process.send?.({ id, value: await procedure(value) })
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  // Otherwise servers would outlive a parent that died.
  process.on('disconnect', () => process.exit(0))
  process.send?.({ ready: true })
}

function peakMb(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024)
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
