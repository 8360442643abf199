// A check is data: the rule, the scenario that shows whether it is kept, and a pure judgement of the recorded exchanges.

import type { Facts, Need } from './facts.ts'
import type { Sender } from './sender.ts'
import type { Scope, Target } from './target.ts'

/**
 * must: the interface says it. should: the interface does not say it, but its rules make a violation lose, repeat or misdirect
 * messages. decision: the interface is silent, and this is what Bellwire does (docs/open-points.md).
 */
export type Level = 'must' | 'should' | 'decision'

/** A rule set includes the ones before it: the interface, the dialect of its vendor, Bellwire's decisions. */
export const ruleSets = ['interface', 'vendor', 'bellwire'] as const
export type RuleSet = (typeof ruleSets)[number]

/**
 * Requests that show whether some rules are kept. Checks with the same scenario share its exchanges. `Tool` does the work: it sends to
 * an operator, or answers a platform.
 */
export interface Scenario<Seen, Tool = Sender> {
  readonly scope: Scope
  /** Targets of the scope to which the scenario does not apply. */
  readonly except?: (target: Target) => boolean
  readonly needs?: readonly Need[]
  /** The most messages that it sends to one target. */
  readonly messages: number | ((facts: Facts) => number)
  readonly run: (tool: Tool) => Promise<Seen>
  /** Runs after all other scenarios, because it disturbs them. */
  readonly last?: true
}

export interface JudgeContext {
  readonly target: Target
  readonly facts: Facts
}

export interface CheckText {
  /** 'batch.status': the group, and the subject of the rule. */
  readonly id: string
  /** The section of the interface. */
  readonly section: string
  /** The row of docs/open-points.md. */
  readonly row?: number
  readonly level: Level
  /** In addition to the needs of the scenario. */
  readonly needs?: readonly Need[]
  /** The rule is from the vendor's published documents (rule set vendor). */
  readonly vendor?: true
  /** The rule, as a statement that is true for a correct implementation. */
  readonly title: string
  /** The effect of a violation on messages, users or the platform. */
  readonly consequence: string
  /** How to correct the implementation. */
  readonly remedy: string
}

const ofLevel =
  (level: Level) =>
  (id: string, section: string, row?: number): Pick<CheckText, 'id' | 'section' | 'row' | 'level'> => ({
    id,
    section,
    ...(row !== undefined && { row }),
    level,
  })

/** A check of each level. @example decision('batch.status', '§7.2', 8) // row 8 of the open points */
export const must = ofLevel('must')
export const should = ofLevel('should')
export const decision = ofLevel('decision')

export interface CheckSpec<Seen> extends CheckText {
  /** Returns if the rule is kept. Throws a Verdict otherwise, see verdict.ts. It sends nothing and reads no clock. */
  readonly judge: (seen: Seen, context: JudgeContext) => void
  /** The rule is about all requests of the run: it is judged again at the end, when `seen` has them. */
  readonly ofRun?: true
}

export interface Check<Tool = Sender> extends CheckSpec<unknown> {
  readonly scenario: Scenario<unknown, Tool>
}

/** A check of an operator or of a platform. */
export type AnyCheck = Check<never>

export interface CheckGroup<Tool = never> {
  readonly title: string
  readonly checks: readonly Check<Tool>[]
}

/**
 * The only check of a scenario.
 *
 * @example
 * checkOf({ scope: 'single', messages: 1, run: async (sender) => sender.single('a message', sender.make.message()) }, {
 *   ...must('single.status', '§7.1'),
 *   …,
 *   judge: (exchange) => void delivered(exchange),
 * })
 */
export function checkOf<Seen, Tool = Sender>(scenario: Scenario<Seen, Tool>, spec: CheckSpec<Seen>): Check<Tool> {
  return { ...spec, judge: (seen, context) => spec.judge(seen as Seen, context), scenario }
}

/** The checks of a scenario that several share. */
export function checksOf<Seen, Tool = Sender>(
  scenario: Scenario<Seen, Tool>,
  specs: readonly CheckSpec<Seen>[],
): readonly Check<Tool>[] {
  return specs.map((spec) => checkOf(scenario, spec))
}

export function ruleSetOf({ level, vendor }: CheckText): RuleSet {
  if (level === 'decision') return 'bellwire'
  return vendor ? 'vendor' : 'interface'
}
