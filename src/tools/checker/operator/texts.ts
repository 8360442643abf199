// §7.1, row 41: texts that many databases and libraries cannot process.

import { type Check, checksOf, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { Facts } from '../facts.ts'
import type { MessageOptions } from '../messages.ts'
import { delivered, singleOutcome } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { expectAnswer } from '../verdict.ts'

/** A member of the content that is a text. */
export const textMember = ({ content }: Facts): string =>
  Object.keys(content).find((name) => typeof content[name] === 'string') ?? 'title'

export const unstorableKinds = 4

/** Messages whose JSON is valid, but whose text many databases refuse. */
export function unstorable({ facts, make }: Sender): Readonly<Record<string, MessageOptions>> {
  const member = textMember(facts)
  return {
    [`U+0000 in ${member}`]: { beside: { [member]: 'bellwire check \u0000' } },
    'U+0000 in trigger_hash': { activity: { trigger_hash: `bellwire-check-${make.mark}-\u0000` } },
    [`a lone surrogate in ${member}`]: { beside: { [member]: 'bellwire check \ud800' } },
    'a lone surrogate in trigger_hash': { activity: { trigger_hash: `bellwire-check-${make.mark}-\ud800` } },
  }
}

const hostileTexts = {
  scope: 'single',
  messages: 2 + unstorableKinds,
  run: async (sender: Sender) => {
    const { make, facts } = sender
    const ordinary = await sender.single('an ordinary message', make.message())
    const exchanges: Exchange[] = []
    for (const [label, options] of Object.entries(unstorable(sender)))
      exchanges.push(await sender.single(`a message with ${label}`, make.message(options)))
    const member = textMember(facts)
    const message = make.message({ beside: { [member]: 'bellwire check \ufffd' } })
    // The replacement character stands for one byte that begins no character.
    const bytes = Buffer.from(Buffer.from(message.text).toString('latin1').replace('\xef\xbf\xbd', '\xff'), 'latin1')
    exchanges.push(await sender.single(`a message with a byte in ${member} that is not UTF-8`, message, { bytes }))
    return { ordinary, exchanges }
  },
} as const

export const textChecks: readonly Check[] = checksOf(hostileTexts, [
  {
    ...should('malformed.text', '§7.1', 41),
    title:
      'A message with U+0000, a lone surrogate or a byte that is not UTF-8 is delivered or refused, but not answered with an error that is retried.',
    consequence: 'The platform repeats the message without end. The text is the same each time.',
    remedy: 'Look for these characters before you store the message, and refuse it with 400 and an error record.',
    judge: ({ ordinary, exchanges }) => {
      delivered(ordinary)
      for (const exchange of exchanges) expectAnswer(exchange, (answer) => singleOutcome(answer) !== 'fatal')
    },
  },
])
