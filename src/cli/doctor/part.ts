import type { Check } from '../../providers/provider.ts'

/** One configured thing that is looked at. */
export interface Part {
  /** Its setting: 'operator.push', 'platform.lanes[0].to'. */
  readonly setting: string
  /** May reject, and may hang: whoever looks bounds it. */
  look(): Promise<readonly Check[]>
  close?(): Promise<void>
}

export interface Finding extends Check {
  readonly setting: string
}

/** Looks at all parts at once, each no longer than this. In the order of the parts. */
export async function lookAtAll(parts: readonly Part[], withinMs: number): Promise<readonly Finding[]> {
  const found = await Promise.all(parts.map((part) => lookAt(part, withinMs)))
  return found.flat()
}

async function lookAt(part: Part, withinMs: number): Promise<readonly Finding[]> {
  const { setting } = part
  const late = Promise.withResolvers<readonly Check[]>()
  const timer = setTimeout(
    () =>
      late.resolve([
        {
          ok: false,
          what: `no answer within ${withinMs / 1000} s`,
          remedy: 'check the network, or allow more with --timeout',
        },
      ]),
    withinMs,
  )
  try {
    const checks = await Promise.race([part.look(), late.promise])
    return checks.map((check) => ({ setting, ...check }))
  } catch (error) {
    return [{ setting, ok: false, what: (error as Error).message, remedy: 'docs/running.md says what belongs here' }]
  } finally {
    clearTimeout(timer)
    // Not waited for: what hangs may hang here too.
    part.close?.().catch(() => {})
  }
}
