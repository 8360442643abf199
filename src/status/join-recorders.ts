// One recorder over the recorders of several stores. The statuses of a message are in the store of its brand.

import type { MessageStatuses, StatusRecorder } from './recorder.ts'

/**
 * @param of the recorder of a brand
 * @param all the recorders, to find a message without its brand
 */
export function joinRecorders(of: (brand: string) => StatusRecorder, all: readonly StatusRecorder[]): StatusRecorder {
  const divide = <Change extends { readonly brand: string }>(changes: readonly Change[]) =>
    [...Map.groupBy(changes, ({ brand }) => of(brand))] as const

  /** The operations are committed together, so their brands are in one store. */
  const only = (changes: readonly { readonly brand: string }[]): StatusRecorder | undefined => {
    const [first, ...others] = divide(changes)
    if (others.length > 0)
      throw new Error('the brands of the statuses are in several stores: record the statuses of each store separately')
    return first?.[0]
  }

  return {
    firstOps: (firsts) => only(firsts)?.firstOps(firsts) ?? [],
    changeOps: (changes) => only(changes)?.changeOps(changes) ?? [],
    async record(changes, userId) {
      return (await Promise.all(divide(changes).map(([recorder, own]) => recorder.record(own, userId)))).flat()
    },
    async read(ref) {
      const read = await Promise.allSettled(all.map((recorder) => recorder.read(ref)))
      const answers = read.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      const found = answers.find(({ statuses }) => statuses.length > 0)
      if (found) return found
      for (const each of read) if (each.status === 'rejected') throw each.reason
      return answers[0] as MessageStatuses
    },
  }
}
