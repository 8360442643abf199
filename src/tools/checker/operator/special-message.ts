import type { Scenario } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import { delivered, isSuccess } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { expectAnswer } from '../verdict.ts'

export interface Compared {
  /** An ordinary message: it must be delivered, or the other one cannot be judged. */
  readonly ordinary: Exchange
  readonly special: Exchange
}

/** Sends an ordinary message and a special one to the same endpoint. */
export const compare = (send: (sender: Sender) => Promise<Exchange>): Scenario<Compared> => ({
  scope: 'single',
  messages: 2,
  run: async (sender) => ({
    ordinary: await sender.single('an ordinary message', sender.make.message()),
    special: await send(sender),
  }),
})

/** @throws Failed if the special message was not delivered although the ordinary one was */
export function expectAccepted({ ordinary, special }: Compared): void {
  delivered(ordinary)
  expectAnswer(special, isSuccess)
}
