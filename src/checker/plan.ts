// The steps of a run: each scenario with each of its targets, and the checks that judge it. Pure.

import { type Check, type RuleSet, ruleSetOf, ruleSets, type Scenario } from './check.ts'
import { type Facts, preparations } from './facts.ts'
import { acceptedCheck, offeredCheck } from './operator/endpoints.ts'
import { type Feature, type Target, targetsOf } from './target.ts'

/** absent: no such endpoint; refused: it does not accept the key that other endpoints accept. */
export type EndpointState = 'offered' | 'absent' | 'refused'

export interface PlanInput {
  readonly checks: readonly Check[]
  readonly facts: Facts
  readonly rules: RuleSet
  /** Only checks whose id is one of these, or begins with one of these and a dot. */
  readonly only?: readonly string[]
  /** The endpoints to check. An endpoint that is not a key is not offered, and need not be. */
  readonly endpoints: ReadonlyMap<Feature, EndpointState>
}

/** The result of a check that is known before the run. */
export interface Settled {
  readonly status: 'skipped' | 'not_applicable' | 'not_judged'
  readonly reason: string
  /** How to prepare a skipped check. */
  readonly prepare?: string
}

export interface Step {
  readonly scenario: Scenario<unknown>
  readonly target: Target
  /** The checks to judge; empty if all are settled. */
  readonly checks: readonly Check[]
  readonly settled: readonly (Settled & { readonly check: Check })[]
  /** The most messages. */
  readonly messages: number
}

export function planSteps({ checks, facts, rules, only, endpoints }: PlanInput): readonly Step[] {
  const chosen = checks.filter((check) => isInRuleSet(check, rules) && isChosen(check, only))
  return [...Map.groupBy(chosen, ({ scenario }) => scenario)].flatMap(([scenario, of]) =>
    targets(scenario, endpoints).map((target) => planStep(scenario, target, of, facts, endpoints)),
  )
}

const isInRuleSet = (check: Check, rules: RuleSet): boolean =>
  ruleSets.indexOf(ruleSetOf(check)) <= ruleSets.indexOf(rules)

const isChosen = ({ id }: Check, only: readonly string[] | undefined): boolean =>
  only === undefined || only.some((name) => id === name || id.startsWith(`${name}.`))

function targets({ scope, except }: Scenario<unknown>, endpoints: PlanInput['endpoints']): readonly Target[] {
  const all = targetsOf(scope).filter((target) => !except?.(target))
  if (scope !== 'once') return all
  const offered = all.filter(({ feature }) => endpoints.get(feature) === 'offered')
  return [...offered, ...all].slice(0, 1)
}

function planStep(
  scenario: Scenario<unknown>,
  target: Target,
  checks: readonly Check[],
  facts: Facts,
  endpoints: PlanInput['endpoints'],
): Step {
  const settled = checks.flatMap((check) => {
    const known = settle(check, target, facts, endpoints)
    return known ? [{ check, ...known }] : []
  })
  const open = checks.filter((check) => !settled.some((each) => each.check === check))
  const { messages } = scenario
  const most = typeof messages === 'function' ? messages(facts) : messages
  return { scenario, target, checks: open, settled, messages: open.length > 0 ? most : 0 }
}

function settle(
  { id, scenario, needs = [] }: Check,
  { uses }: Target,
  facts: Facts,
  endpoints: PlanInput['endpoints'],
): Settled | undefined {
  const missing = uses.find((feature) => !endpoints.has(feature))
  if (missing) return { status: 'not_applicable', reason: `${missing} is not offered` }
  const need = [...(scenario.needs ?? []), ...needs].find((name) => !preparations[name].isPrepared(facts))
  if (need) return { status: 'skipped', reason: preparations[need].missing, prepare: preparations[need].prepare }
  if (id === offeredCheck) return undefined
  const absent = uses.find((feature) => endpoints.get(feature) === 'absent')
  if (absent) return { status: 'not_judged', reason: `the endpoint ${absent} does not exist (${offeredCheck})` }
  if (id === acceptedCheck) return undefined
  const refused = uses.find((feature) => endpoints.get(feature) === 'refused')
  if (refused) return { status: 'not_judged', reason: `the endpoint ${refused} refuses the key (${acceptedCheck})` }
  return undefined
}
