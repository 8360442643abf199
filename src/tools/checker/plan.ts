// The steps of a run: each scenario with each of its targets, and the checks that judge it. Pure.

import { type AnyCheck, type Check, type RuleSet, ruleSetOf, ruleSets, type Scenario } from './check.ts'
import { type Facts, preparations } from './facts.ts'
import { type Feature, type Target, targetsOf } from './target.ts'

/** absent: no such endpoint; refused: it does not accept the key that other endpoints accept. */
export type EndpointState = 'offered' | 'absent' | 'refused'

/** The checks that judge the state of an endpoint. All others are judged only at endpoints that are offered. */
export interface Gates {
  readonly offered: string
  readonly accepted: string
}

/** The choice of the checks, and the facts on which they are judged. */
export interface Chosen<Tool> {
  readonly checks: readonly Check<Tool>[]
  readonly facts: Facts
  readonly rules: RuleSet
  /** Only checks whose id is one of these, or begins with one of these and a dot. */
  readonly only?: readonly string[]
}

export interface PlanInput<Tool> extends Chosen<Tool> {
  readonly gates: Gates
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

export interface Step<Tool> {
  readonly scenario: Scenario<unknown, Tool>
  readonly target: Target
  /** The checks to judge; empty if all are settled. */
  readonly checks: readonly Check<Tool>[]
  readonly settled: readonly (Settled & { readonly check: Check<Tool> })[]
  /** The most messages. */
  readonly messages: number
}

/** The size of a run. */
export interface Planned {
  /** The most messages. */
  readonly messages: number
  /** The number of results. */
  readonly total: number
}

type Endpoints = ReadonlyMap<Feature, EndpointState>

export function planRun<Tool>(input: PlanInput<Tool>): Planned & { readonly steps: readonly Step<Tool>[] } {
  const { checks, rules, only, endpoints } = input
  const chosen = checks.filter((check) => isInRuleSet(check, rules) && isChosen(check, only))
  const steps = [...Map.groupBy(chosen, ({ scenario }) => scenario)].flatMap(([scenario, of]) =>
    targets(scenario, endpoints).map((target) => planStep(scenario, target, of, input)),
  )
  return {
    steps,
    messages: steps.reduce((sum, step) => sum + step.messages, 0),
    total: steps.reduce((sum, step) => sum + step.checks.length + step.settled.length, 0),
  }
}

const isInRuleSet = (check: AnyCheck, rules: RuleSet): boolean =>
  ruleSets.indexOf(ruleSetOf(check)) <= ruleSets.indexOf(rules)

const isChosen = ({ id }: AnyCheck, only: readonly string[] | undefined): boolean =>
  only === undefined || only.some((name) => id === name || id.startsWith(`${name}.`))

function targets({ scope, except }: Scenario<unknown, never>, endpoints: Endpoints): readonly Target[] {
  const all = targetsOf(scope).filter((target) => !except?.(target))
  if (scope !== 'once' && scope !== 'first') return all
  const offered = all.filter(({ feature }) => endpoints.get(feature) === 'offered')
  return [...offered, ...all].slice(0, 1)
}

function planStep<Tool>(
  scenario: Scenario<unknown, Tool>,
  target: Target,
  checks: readonly Check<Tool>[],
  { facts, endpoints, gates }: PlanInput<Tool>,
): Step<Tool> {
  const settled = checks.flatMap((check) => {
    const known = settle(check, target, facts, endpoints, gates)
    return known ? [{ check, ...known }] : []
  })
  const open = checks.filter((check) => !settled.some((each) => each.check === check))
  const { messages } = scenario
  const most = typeof messages === 'function' ? messages(facts) : messages
  return { scenario, target, checks: open, settled, messages: open.length > 0 ? most : 0 }
}

function settle(
  { id, scenario, needs = [] }: AnyCheck,
  { uses }: Target,
  facts: Facts,
  endpoints: Endpoints,
  gates: Gates,
): Settled | undefined {
  const missing = uses.find((feature) => !endpoints.has(feature))
  if (missing) return { status: 'not_applicable', reason: `${missing} is not offered` }
  const need = [...(scenario.needs ?? []), ...needs].find((name) => !preparations[name].isPrepared(facts))
  if (need) return { status: 'skipped', reason: preparations[need].missing, prepare: preparations[need].prepare }
  if (id === gates.offered) return undefined
  const absent = uses.find((feature) => endpoints.get(feature) === 'absent')
  if (absent) return { status: 'not_judged', reason: `the endpoint ${absent} does not exist (${gates.offered})` }
  if (id === gates.accepted) return undefined
  const refused = uses.find((feature) => endpoints.get(feature) === 'refused')
  if (refused) return { status: 'not_judged', reason: `the endpoint ${refused} refuses the key (${gates.accepted})` }
  return undefined
}
