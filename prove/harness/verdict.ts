import assert from 'node:assert/strict'
import { enqueue, expandRanges, type OperatorSummary, readOutcomes } from './http.ts'
import { nameOf, ndjson, type ProvedRecord, records } from './records.ts'
import { findIdentifierConflicts, type WitnessReport } from './witness-report.ts'

export interface SentRecord {
  readonly record: ProvedRecord
  /** The number of the message on the platform. */
  readonly seq: number
}

/**
 * Checks that no message is lost or unknown: the platform reports every sent record as successful with the identifier that the
 * provider received, and the provider received no other message.
 */
export async function assertBothSidesAgree(
  sent: readonly SentRecord[],
  platform: string,
  witness: WitnessReport,
): Promise<void> {
  const outcomes = await readOutcomes(
    platform,
    sent.map(({ seq }) => seq),
  )
  const wrong: string[] = []
  const known = new Set<string>()
  for (const [i, { record }] of sent.entries()) {
    const name = nameOf(record)
    const outcome = outcomes[i]
    const seen = witness.messages.get(name)
    known.add(name)
    if (!seen) wrong.push(`${name} was lost: it never reached the provider`)
    else if (outcome?.category !== 'successful')
      wrong.push(`${name} is ${outcome?.category} (${outcome?.error ?? ''}), yet it was delivered`)
    else if (outcome.ref !== seen[0]?.ref)
      wrong.push(`${name}: the platform has ${outcome.ref}, the provider got ${seen[0]?.ref}`)
  }
  for (const name of witness.messages.keys()) if (!known.has(name)) wrong.push(`${name} was delivered, but never sent`)
  wrong.push(...findIdentifierConflicts(witness))
  assert.equal(wrong.length, 0, `${wrong.length} errors, among them:\n${wrong.slice(0, 10).join('\n')}`)
}

/** Checks that every message has exactly one call, and that the operator reports no uncertain attempt. */
export function assertNoSecondCall(witness: WitnessReport, operator: OperatorSummary): void {
  assert.equal(witness.secondCalls, 0, 'the witness recorded messages twice')
  assert.equal(operator.uncertain, 0, 'the operator reports uncertain attempts, but there were none')
}

/** Finds records that are lost, or whose identifier differs from that of their last delivery. */
export async function findUndelivered(
  platformUrl: string,
  count: number,
  witness: WitnessReport,
): Promise<readonly string[]> {
  const wrong: string[] = []
  for (let from = 0; from < count; from += 2_000) {
    const part = records(from, Math.min(2_000, count - from))
    const { seqs, repeated } = await enqueue(platformUrl, 'push', ndjson(part))
    if (repeated !== part.length) wrong.push(`${part.length - repeated} records from ${from} on are not stored`)
    const outcomes = await readOutcomes(platformUrl, expandRanges(seqs))
    for (const [i, each] of part.entries()) {
      const delivered = witness.messages.get(nameOf(each))?.at(-1)
      const { category, ref, error } = outcomes[i] ?? {}
      if (!delivered) wrong.push(`${nameOf(each)} never reached the provider`)
      else if (category !== 'successful' || ref !== delivered.ref)
        wrong.push(`${nameOf(each)} is ${category} with ${ref} (${error}), the provider got ${delivered.ref}`)
    }
  }
  return wrong.slice(0, 20)
}
