import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Database } from './database.ts'

/**
 * Creates a loop that a topic of these databases wakes, in all processes. A notification may be lost, so a turn rests for a bounded time.
 *
 * @param turn see createLoop()
 */
export function createWokenLoop(
  name: string,
  databases: readonly Pick<Database, 'onWake'>[],
  topic: string,
  turn: () => Promise<number>,
): Loop {
  const loop = createLoop(name, turn)
  const unlisten = databases.map((database) => database.onWake(topic, loop.wake))
  return {
    ...loop,
    async stop() {
      for (const end of unlisten) end()
      await loop.stop()
    },
  }
}
