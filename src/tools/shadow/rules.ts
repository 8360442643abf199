// The rules by which two answers are compared: those checks of docs/checks.md that one pair of answers can show, and two of our own.
// Rules of the level `decision` are missing: the interface leaves them free.

import type { CheckText } from '../checker/check.ts'
import { operatorChecks } from '../checker/operator/checks.ts'

export type Rule = Pick<CheckText, 'id' | 'section' | 'row' | 'title'>

const ownRules: readonly Rule[] = [
  { id: 'outcome', section: '§7', title: 'The platform counts, drops or repeats the message, as it did before.' },
  { id: 'key', section: '§5.1', title: 'The same API keys are accepted.' },
]

const rules = new Map<string, Rule>(
  [...ownRules, ...operatorChecks.flatMap(({ checks }) => checks)].map((rule) => [rule.id, rule]),
)

/** @throws Error if there is no such rule */
export function ruleOf(id: string): Rule {
  const { section, row, title } = rules.get(id) ?? unknownRule(id)
  return { id, section, title, ...(row !== undefined && { row }) }
}

function unknownRule(id: string): never {
  throw new Error(`there is no rule ${id}`)
}
