import { type Check, fails, passes } from '../../base/runtime/check.ts'

const mostMs = 60_000

/**
 * Compares this machine's clock with the Date header of an answer. Signed tokens are refused if the clocks differ too much.
 *
 * @param peer the name of the other machine
 * @returns undefined if the answer has no Date header
 */
export function clockCheck(peer: string, date: unknown, now: number): Check | undefined {
  const peerTime = typeof date === 'string' ? Date.parse(date) : Number.NaN
  if (Number.isNaN(peerTime)) return undefined
  const ahead = now - peerTime
  if (Math.abs(ahead) <= mostMs) return passes(`this machine's clock agrees with ${peer}'s`)
  return fails(
    `this machine's clock is ${Math.round(Math.abs(ahead) / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} ${peer}'s`,
    'synchronize the clock with NTP: signed tokens with a wrong time are refused',
  )
}
