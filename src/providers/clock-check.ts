import type { Check } from './provider.ts'

const mostMs = 60_000

/**
 * This machine's clock against the Date of an answer: signed tokens are refused where the two are apart.
 *
 * @returns undefined where the answer has no Date
 */
export function clockCheck(whose: string, date: unknown, now: number): Check | undefined {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN
  if (Number.isNaN(theirs)) return undefined
  const ahead = now - theirs
  if (Math.abs(ahead) <= mostMs) return { ok: true, what: `this machine's clock agrees with ${whose}'s` }
  return {
    ok: false,
    what: `this machine's clock is ${Math.round(Math.abs(ahead) / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} ${whose}'s`,
    remedy: 'set the clock, and keep it right with NTP: signed tokens with a wrong time are refused',
  }
}
