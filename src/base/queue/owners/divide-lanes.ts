// Divides the lanes over the living processes. All processes compute the same division from the same rows.

import { compare } from '../../runtime/compare.ts'

/** A living process and the lanes that it can serve. */
export interface LaneProcess {
  readonly owner: string
  readonly lanes: readonly string[]
}

/**
 * Assigns each lane to one of the processes that can serve it. If all processes can serve all lanes, their shares differ by at most
 * one lane, and a join or a death moves few lanes in addition to the necessary ones: each lane prefers the processes in an order of its
 * own (rendezvous hashing), and takes the first one whose share is not full.
 *
 * @returns the owner of each lane
 * @example divideLanes([{ owner: 'a', lanes: ['1/push', '2/push'] }, { owner: 'b', lanes: ['1/push', '2/push'] }]) // one lane each
 */
export function divideLanes(processes: readonly LaneProcess[]): ReadonlyMap<string, string> {
  const shares = processes
    .filter(({ lanes }) => lanes.length > 0)
    .map(({ owner, lanes }) => ({ owner, hash: hashOf(owner), lanes: new Set(lanes), size: 0 }))
    .sort((a, b) => compare(a.owner, b.owner))
  const candidates = new Map<string, typeof shares>()
  for (const share of shares)
    for (const name of share.lanes) candidates.set(name, [...(candidates.get(name) ?? []), share])
  // First the lanes with the smallest choice: the others then even out the shares.
  const names = [...candidates].sort(([a, x], [b, y]) => x.length - y.length || compare(a, b))
  const fullSize = Math.floor(names.length / shares.length)
  /** The number of shares that may have one lane more. */
  let larger = names.length % shares.length
  const owners = new Map<string, string>()
  for (const [name, able] of names) {
    const hash = hashOf(name)
    const preferred = able
      .map((share) => ({ share, score: mix(hash ^ share.hash) }))
      .sort((a, b) => b.score - a.score)
      .map(({ share }) => share)
    const share =
      preferred.find(({ size }) => size < fullSize + (larger > 0 ? 1 : 0)) ??
      preferred.reduce((least, each) => (each.size < least.size ? each : least))
    if (share.size === fullSize) larger--
    share.size++
    owners.set(name, share.owner)
  }
  return owners
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/** The finalizer of MurmurHash3: similar inputs get unrelated results. */
function mix(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35)
  return (second ^ (second >>> 16)) >>> 0
}
