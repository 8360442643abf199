// The provider behind the operator, and the witness: it reports each message that reaches it to the model.

import type { Message, Provider, Result } from '../../src/subjects/providers/provider.ts'
import type { Model, ModelledMessage } from './model.ts'
import type { Random } from './random.ts'
import type { Faults } from './settings.ts'
import type { World } from './world.ts'

export interface ProviderOptions {
  readonly world: World
  readonly random: Random
  readonly faults: Faults
  readonly model: Model
  readonly truths: ReadonlyMap<string, ModelledMessage['truth']>
  readonly max: number
}

export function createWitness({ world, random, faults, model, truths, max }: ProviderOptions): Provider {
  let outageUntil = 0

  async function send(messages: readonly Message[], signal: AbortSignal): Promise<readonly Result[]> {
    const upsets = model.operatorUpsets
    world.note(`send ${messages.map(({ id }) => id).join()}`)
    for (const { id, ref } of messages) model.send(id, ref)
    const end = (outcomeOf: (id: string) => 'sent' | 'not sent' | 'unknown'): void => {
      for (const { id } of messages) model.sendEnded(id, outcomeOf(id), upsets)
    }
    const hangs = faults.fires('provider hangs')
    await Promise.race([
      hangs
        ? new Promise(() => {})
        : world.sleep(faults.fires('provider late') ? random.integer(40, 8_000) : random.integer(1, 30)),
      new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    ])
    if (signal.aborted) {
      end(() => 'unknown')
      return hangs ? new Promise(() => {}) : messages.map(() => fatal('no answer', { uncertain: true }))
    }
    if (faults.fires('provider throws')) {
      end(() => 'unknown')
      throw new Error('the provider broke')
    }
    if (faults.fires('provider miscounts')) {
      end(() => 'unknown')
      return []
    }
    if (faults.fires('provider outage')) outageUntil = world.now + random.integer(1_000, 15_000)
    if (world.now < outageUntil) {
      end(() => 'not sent')
      return messages.map(() => fatal('down', {}))
    }
    if (faults.fires('provider asks to wait')) {
      end(() => 'not sent')
      return messages.map(() => fatal('slower', { retryAfterMs: 2_000 }))
    }
    const results = messages.map(({ id, ref }): Result => {
      if (faults.fires('provider fatal')) return fatal('not now', { blame: 'message' })
      if (truths.get(id) === 'successful') return { category: 'successful', ref, rule: 'sent' }
      return { category: 'failed', reason: 'rejected', error: 'refused', rule: 'refused' }
    })
    end((id) =>
      results[messages.findIndex((each) => each.id === id)]?.category === 'successful' ? 'sent' : 'not sent',
    )
    return results
  }
  return { name: 'witness', max, send: (messages, { signal }) => send(messages, signal) }
}

const fatal = (error: string, more: object): Result => ({
  category: 'fatal',
  reason: 'unavailable',
  blame: 'provider',
  rule: 'witness',
  error,
  ...more,
})
