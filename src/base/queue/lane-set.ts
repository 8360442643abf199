// Lanes that come, go and change while their process runs. A lane whose options stay the same object goes on.

import type { LaneService } from './queue.ts'

export interface LaneSet<Options> {
  /** The lanes by their names, in the order in which they were given. */
  list(): readonly LaneService[]
  start(): void
  /**
   * Serves these lanes from now on. New lanes start at once, removed ones stop, and a lane with other options is replaced as soon as
   * its running calls have ended.
   *
   * @param wanted the options of each lane, by its name
   * @throws if a lane cannot be created: nothing was changed
   */
  replace(wanted: ReadonlyMap<string, Options>): void
  stop(withinMs?: number): Promise<void>
}

/** The grace period of running calls of a lane that is removed or replaced. */
const endWithinMs = 5_000

/** @param create creates a lane without starting it. Its stop must not reject */
export function createLaneSet<Options>(create: (options: Options, name: string) => LaneService): LaneSet<Options> {
  let served: ReadonlyMap<string, { readonly options: Options; readonly lane: LaneService }> = new Map()
  /** The lanes that are ending, by their names. */
  const ending = new Map<string, Promise<void>>()
  let state: 'created' | 'started' | 'stopped' = 'created'

  function end(lane: LaneService, withinMs: number | undefined): Promise<void> {
    const before = ending.get(lane.name) ?? Promise.resolve()
    const ended = before
      .then(() => lane.stop(withinMs))
      .then(() => {
        if (ending.get(lane.name) === ended) ending.delete(lane.name)
      })
    ending.set(lane.name, ended)
    return ended
  }

  async function begin(lane: LaneService): Promise<void> {
    const before = ending.get(lane.name)
    if (before) await before
    if (state === 'started' && served.get(lane.name)?.lane === lane) lane.start()
  }

  return {
    list: () => [...served.values()].map(({ lane }) => lane),
    start() {
      state = 'started'
      for (const { lane } of served.values()) lane.start()
    },
    replace(wanted) {
      const next = new Map<string, { readonly options: Options; readonly lane: LaneService }>()
      const created: LaneService[] = []
      try {
        for (const [name, options] of wanted) {
          const former = served.get(name)
          const isSame = former !== undefined && former.options === options
          const each = isSame ? former : { options, lane: create(options, name) }
          if (!isSame) created.push(each.lane)
          next.set(name, each)
        }
      } catch (error) {
        for (const lane of created) void lane.stop()
        throw error
      }
      const former = served
      served = next
      for (const [name, { lane }] of former) if (next.get(name)?.lane !== lane) void end(lane, endWithinMs)
      for (const lane of created) void begin(lane)
    },
    async stop(withinMs) {
      state = 'stopped'
      for (const { lane } of served.values()) void end(lane, withinMs)
      await Promise.all(ending.values())
    },
  }
}
