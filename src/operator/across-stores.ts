// The parts of the operator that routes use for messages of several brands, or without a brand. Each is one over those of all stores.

import { countMessages, type MessageCount } from '../delivery/message-counts.ts'
import { joinPaths, type Sender, type StorePaths } from '../delivery/store-paths.ts'
import type { Channel } from '../providers/provider.ts'
import { joinStatusPages } from '../status/join-pages.ts'
import { joinRecorders } from '../status/join-recorders.ts'
import { createStatusPages, type StatusPages } from '../status/pages.ts'
import type { StatusRecorder } from '../status/recorder.ts'
import { op } from '../store/statement.ts'
import type { OperatorStore, OperatorStores } from './stores.ts'

/** The counts of each brand in its store: the old store of a brand that has moved may still have rows. */
export async function countMessagesIn({ all, homeOf }: OperatorStores): Promise<readonly MessageCount[]> {
  const counted = await Promise.all(
    all.map(async (store) =>
      (await store.database.read(op(countMessages, [[]]))).filter(({ brand }) => homeOf(brand) === store),
    ),
  )
  return counted.flat()
}

/** Undefined: the channel has no provider. */
export function senderOf(channel: Channel, { all, homeOf }: OperatorStores, paths: StorePaths): Sender | undefined {
  const [main, ...others] = all as readonly [OperatorStore, ...OperatorStore[]]
  const path = paths.of(main.number, channel)?.path
  if (!path || others.length === 0) return path
  return joinPaths((brand) => paths.of(homeOf(brand).number, channel)?.path ?? path)
}

export function recorderOf({ all, of }: OperatorStores): StatusRecorder {
  const recorders = all.flatMap(({ statuses }) => statuses?.recorder ?? [])
  return joinRecorders((brand) => of(brand).statuses?.recorder as StatusRecorder, recorders)
}

export function pagesOf({ all, homeOf }: OperatorStores): StatusPages {
  const pages = all.map((store) => ({ store, number: store.number, pages: createStatusPages(store.database) }))
  return joinStatusPages((brands) => {
    const homes = new Set(brands.map(homeOf))
    return pages.filter(({ store }) => homes.has(store))
  })
}
