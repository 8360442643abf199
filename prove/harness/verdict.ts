import assert from 'node:assert/strict'
import { type OperatorSummary, outcomesOf } from './http.ts'
import { nameOf, type ProvedRecord } from './records.ts'
import { confused, type Testimony } from './testimony.ts'

export interface Sent {
  readonly record: ProvedRecord
  /** The number under which the platform took it. */
  readonly seq: number
}

/**
 * Nothing lost, nothing that the platform does not know: every record sent is reported successful with the very identifier
 * under which the provider received it, and the provider received nothing else.
 */
export async function assertBothSidesAgree(sent: readonly Sent[], platform: string, witness: Testimony): Promise<void> {
  const outcomes = await outcomesOf(
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
  for (const name of witness.messages.keys()) if (!known.has(name)) wrong.push(`${name} was delivered, nobody sent it`)
  wrong.push(...confused(witness))
  assert.equal(wrong.length, 0, `${wrong.length} wrong, among them:\n${wrong.slice(0, 10).join('\n')}`)
}

/** Every message has exactly one call, and the operator thinks so too. */
export function assertNoSecondCall(witness: Testimony, operator: OperatorSummary): void {
  assert.equal(witness.secondCalls, 0, 'the witness saw messages twice')
  assert.equal(operator.uncertain, 0, 'the operator reports uncertain attempts where there were none')
}
