// Bugs that are planted one at a time, to prove that the simulation would find them. Each is a change of the text of one file of src/, which
// a hook of the module loader makes. A text that is not there any more is an error.

import { registerHooks } from 'node:module'

export interface Bug {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}

const bug = (name: string, file: string, from: string, to: string): Bug => ({ name, file, from, to })

export const bugs: readonly Bug[] = [
  bug(
    'a delivered message is claimed again',
    'subjects/delivery/claim.ts',
    "if (row.state === 'successful') claims.set",
    'if (false) claims.set',
  ),
  bug(
    'the operator answers before it settles',
    'subjects/delivery/send-path.ts',
    'await settle(this.#options.database, owner, settled, this.#options.settledOps)',
    'void settle(this.#options.database, owner, settled, this.#options.settledOps).catch(() => {})',
  ),
  bug(
    'an answer that was not settled is successful',
    'subjects/delivery/send-path.ts',
    'return this.#answerAll(works, storeUnavailable(error))\n    }\n    works.forEach',
    '}\n    works.forEach',
  ),
  bug(
    'a message in progress is started again',
    'subjects/delivery/send-path.ts',
    'if (same) {',
    'if (same && Math.abs(0) > 1) {',
  ),
  bug(
    'a second attempt has a new identifier',
    'subjects/delivery/send-path.ts',
    'ref: claim.ref, attempt: claim.attempt',
    'ref: message.ref, attempt: claim.attempt',
  ),
  bug(
    'a repeated success has no identifier of its own',
    'subjects/delivery/send-path.ts',
    'this.#answer(work, deliveredBefore(claim.ref))',
    'this.#answer(work, deliveredBefore(message.ref))',
  ),
  bug(
    'an unfinished message is failed',
    'subjects/delivery/send-path.ts',
    "const unfinished = refuseFatal('unfinished')",
    "const unfinished = { ...refuseFatal('unfinished'), category: 'failed' } as never",
  ),
  bug(
    'an overloaded operator fails messages',
    'subjects/delivery/send-path.ts',
    "const overloaded = refuseFatal('overloaded')",
    "const overloaded = { ...refuseFatal('overloaded'), category: 'failed' } as never",
  ),
  bug('Retry-After is ignored', 'contract/retry-after.ts', 'return Number(text) * 1000', 'return Number(text)'),
  bug(
    'a 4xx is retried',
    'contract/answer.ts',
    'if (status >= 400 && status <= 499) return {',
    'if (status >= 400 && status <= 428) return {',
  ),
  bug(
    'a 503 fails a message',
    'contract/answer.ts',
    'if (status >= 400 && status <= 499) return {',
    'if (status >= 400 && status <= 503) return {',
  ),
  bug(
    'a message that the answer does not name is delivered',
    'contract/answer.ts',
    'if (entry === undefined) return missing',
    "if (entry === undefined) return { category: 'successful', rule: '§7.2.2 absent' }",
  ),
  bug(
    'a batch with another status is failed',
    'contract/answer.ts',
    'fatal(blame, reasonOf(status), error, evidence, wait)',
    "{ category: 'failed', reason: 'rejected', error, ...evidence }",
  ),
  bug(
    'an outcome is dropped when the store is busy',
    'base/queue/lane/settle-writer.ts',
    'for (let attempt = 1; !lost.aborted; attempt++) {',
    'for (let attempt = 1; attempt < 2 && !lost.aborted; attempt++) {',
  ),
  bug('an expired message is sent', 'base/queue/lane/dispatcher.ts', 'expiresAt <= now', 'expiresAt + 1_000 <= now'),
  bug(
    'the limit of concurrent calls is one too high',
    'base/queue/lane/dispatcher.ts',
    'oneAtATime ? 1 : settings.concurrency',
    'oneAtATime ? 1 : settings.concurrency + 1',
  ),
  bug(
    'a batch is one message too long',
    'base/queue/lane/dispatcher.ts',
    'max: Math.min(max, most.max) }',
    'max: Math.min(max, most.max) + 1 }',
  ),
  bug(
    'a fatal message is forgotten',
    'base/queue/lane/dispatcher.ts',
    'else if (!plan.postpone) buffer.delayUntil(item, retryAt)',
    'else if (!plan.postpone) buffer.remove([item])',
  ),
  bug(
    'a probe never ends the hold',
    'base/queue/lane/provider-health.ts',
    'hold = undefined\n      recovering = true',
    'hold = { ...hold, probing: true }\n      recovering = true',
  ),
  bug(
    'a message without an answer is delivered',
    'subjects/providers/operator-api.ts',
    "if ('lost' in exchanged) return lost(name, exchanged, context)",
    "if ('lost' in exchanged) return { category: 'successful', rule: 'lost' }",
  ),
  bug(
    'a statement whose first use was rolled back fails for ever',
    'base/store/sqlite.ts',
    'for (const each of prepared.values()) each.afterRollback()',
    '',
  ),
  bug(
    'a held lane waits by the clock',
    'base/queue/lane/session.ts',
    'dispatcher.startCalls(clock.steady())',
    'dispatcher.startCalls(clock.now())',
  ),
  bug(
    'a lost session keeps its lanes',
    'base/queue/owners/division.ts',
    "ownership.lost.addEventListener('abort', () => void dropLanes(member), { once: true })",
    '',
  ),
]

/** Call it before anything of src/ is imported. */
export function plant({ file, from, to }: Bug): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.endsWith(`/src/${file}`)) return loaded
      const text = String(loaded.source)
      if (!text.includes(from))
        throw new Error(`${file} has no ${JSON.stringify(from)}: adapt prove/simulation/bugs.ts`)
      return { ...loaded, source: text.replaceAll(from, () => to) }
    },
  })
}
