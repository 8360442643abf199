import { adminKey } from '../plans.ts'

/** Sends a request to /admin of either side. Rejects unless the answer is 200. */
export async function admin<Answer>(
  url: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<Answer> {
  const response = await fetch(new URL(path, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': adminKey, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} was answered ${response.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as Answer
}

export interface Enqueued {
  readonly accepted: number
  readonly repeated: number
  readonly refused_count: number
  readonly refused: readonly { readonly line: number; readonly error: string }[]
  readonly seqs: readonly (readonly [number, number])[]
}

export function enqueue(platform: string, channel: 'push' | 'site', ndjson: string): Promise<Enqueued> {
  return admin(platform, `/admin/activities/${channel}`, ndjson, 'application/x-ndjson')
}

/** The number of each accepted line, in order. */
export function expandRanges(seqs: Enqueued['seqs']): readonly number[] {
  return seqs.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
}

export interface ReportedOutcome {
  readonly seq: number
  readonly category: 'successful' | 'failed' | 'waiting'
  readonly ref?: string
  readonly reason?: string
  readonly error?: string
}

/** Reads the platform's outcomes, in the order of the numbers. */
export async function readOutcomes(platform: string, seqs: readonly number[]): Promise<readonly ReportedOutcome[]> {
  const found = new Map<number, ReportedOutcome>()
  for (let from = 0; from < seqs.length; from += 10_000) {
    const part = { seqs: seqs.slice(from, from + 10_000) }
    const { outcomes } = await admin<{ outcomes: readonly ReportedOutcome[] }>(platform, '/admin/outcomes', part)
    for (const outcome of outcomes) found.set(outcome.seq, outcome)
  }
  return seqs.map(
    (seq) => found.get(seq) ?? { seq, category: 'waiting', error: 'the platform does not know this number' },
  )
}

export interface PlatformSummary {
  readonly waiting: number
  readonly successful: number
  readonly failed: number
}
export interface OperatorSummary extends Omit<PlatformSummary, 'waiting'> {
  readonly fatal: number
  readonly in_flight: number
  readonly uncertain: number
  readonly repeated: number
}

/** Polls until no message waits. The time limit of the proof also ends it. */
export async function waitUntilSettled(platform: string, signal: AbortSignal): Promise<PlatformSummary> {
  for (;;) {
    signal.throwIfAborted()
    const summary = await admin<PlatformSummary>(platform, '/admin/summary')
    if (summary.waiting === 0) return summary
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
