// The child's half of harness/child.ts: named questions over IPC, each answered once.

type Answer = (value: never) => unknown

/**
 * Answers the parent's questions. 'cpu' is there for every child: microseconds of CPU, all threads, since its start.
 *
 * @example answers({ port: () => 8080, fill: async (rows: number) => { … } })
 */
export function answers(table: Readonly<Record<string, Answer>>): void {
  const all: Readonly<Record<string, Answer>> = { cpu: cpuUs, ...table }
  process.on('message', async ({ id, name, value }: { id: number; name: string; value: never }) => {
    const answer = all[name]
    try {
      if (!answer) throw new Error(`this process does not answer '${name}'`)
      process.send?.({ id, value: await answer(value) })
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  // A parent that died must not leave servers behind.
  process.on('disconnect', () => process.exit(0))
  process.send?.({ ready: true })
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
