import { type Check, fails } from '../../../base/runtime/check.ts'

/** A part of the configuration that can be checked. */
export interface Part {
  /** Its setting: 'operator.push', 'platform.lanes[0].to'. */
  readonly setting: string
  /** May reject or hang: the caller sets a timeout. */
  check(): Promise<readonly Check[]>
  close?(): Promise<void>
}

export interface Finding extends Check {
  readonly setting: string
}

/** Checks all parts concurrently, each with this timeout. The findings are in the order of the parts. */
export async function checkAll(parts: readonly Part[], timeoutMs: number): Promise<readonly Finding[]> {
  const findings = await Promise.all(parts.map((part) => checkPart(part, timeoutMs)))
  return findings.flat()
}

async function checkPart(part: Part, timeoutMs: number): Promise<readonly Finding[]> {
  const { setting } = part
  const timeout = Promise.withResolvers<readonly Check[]>()
  const timer = setTimeout(
    () => timeout.resolve([fails(`no answer within ${timeoutMs / 1000} s`, 'check the network, or raise --timeout')]),
    timeoutMs,
  )
  try {
    const checks = await Promise.race([part.check(), timeout.promise])
    return checks.map((check) => ({ setting, ...check }))
  } catch (error) {
    return [
      { setting, ok: false, description: (error as Error).message, remedy: 'docs/settings.md describes this setting' },
    ]
  } finally {
    clearTimeout(timer)
    // Not awaited: a part that hangs may hang in close() too.
    part.close?.().catch(() => {})
  }
}
