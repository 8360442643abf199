import type { Contender } from './benchmark.ts'
import type { Child } from './child.ts'
import type { Measure } from './ratios.ts'

interface ChildContender {
  readonly name: string
  readonly child: Child
  /** Not measured: fills what the next round drains. */
  readonly prepare?: () => Promise<unknown>
  readonly run: (seconds: number) => Promise<Omit<Measure, 'cpuUs'>>
  /** Stops and removes what the child used. */
  readonly release?: () => Promise<unknown>
}

/** A contender that works in one child process. The CPU of its rounds is that of the child. */
export function childContender({ name, child, prepare, run, release }: ChildContender): Contender {
  return {
    name,
    async warm(seconds) {
      await prepare?.()
      await run(seconds)
    },
    async round(seconds) {
      await prepare?.()
      const before = await child.call<number>('cpu')
      const measured = await run(seconds)
      return { ...measured, cpuUs: (await child.call<number>('cpu')) - before }
    },
    async stop() {
      await child.stop()
      await release?.()
    },
  }
}
