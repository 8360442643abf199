// The facts of a run of `bellwire check operator`.

import type { Json } from '../../../base/runtime/json.ts'
import { present } from '../../../base/runtime/present.ts'
import type { AnyCheck } from '../../checker/check.ts'
import { type Facts, preparations } from '../../checker/facts.ts'
import { CliError, exit } from '../exit.ts'
import type { Preparation } from './preparation.ts'

export interface FactOptions extends Partial<Preparation> {
  readonly user?: string
  readonly blockedUser?: string
  readonly userWithoutDevice?: string
}

/** The largest batch if the maximum is not named. */
export const defaultBatch = 100

/** @throws CliError if no normal user is named */
export function factsFrom(
  settings: FactOptions & Pick<Preparation, 'timeout'>,
  restart: (() => Promise<void>) | undefined,
): Facts {
  const { brand = '1', batchMax, fields, failingField, timeout } = settings
  const {
    user: normal = settings.users?.normal,
    blockedUser: blocked = settings.users?.blocked,
    userWithoutDevice: withoutDevice = settings.users?.withoutDevice,
  } = settings
  if (normal === undefined)
    throw new CliError(
      exit.usage,
      'no user is named who can receive the messages: --user ID, or users.normal in the file',
    )
  const users = { normal, ...present({ blocked, withoutDevice }) }
  const same = Object.values(users).find((user, place, all) => all.indexOf(user) !== place)
  if (same !== undefined) throw new CliError(exit.usage, `the user ${same} is named twice: a test user has one purpose`)
  return {
    brand,
    users,
    // A user who can receive messages is neither blocked nor excluded. The reason of a blocked user is not known.
    known: { [normal]: { blocked: false, excluded: false }, ...(settings.known as Facts['known'] | undefined) },
    content: (settings.message ?? defaultMessage) as Readonly<Record<string, Json>>,
    batchMax: batchMax ?? defaultBatch,
    batchMaxAgreed: batchMax !== undefined,
    ...(fields && fields.length > 0 && { fields }),
    ...(failingField && { failingField }),
    ...(restart && { restart }),
    pace: {
      timeout,
      slow: 1_000,
      giveUp: 20,
      retryPause: 500,
      patience: 5_000,
      quiet: 0,
    },
  }
}

export const defaultMessage = { title: 'Bellwire check', body: 'A test message of bellwire check. Please ignore it.' }

/** Lists the preparations that checks need and that are missing, each with how to prepare it. */
export function phraseMissing(facts: Facts, checks: readonly AnyCheck[]): readonly string[] {
  const missing = [...new Set(checks.flatMap(({ needs = [], scenario }) => [...(scenario.needs ?? []), ...needs]))]
    .map((need) => preparations[need])
    .filter(({ isPrepared }) => !isPrepared(facts))
  if (missing.length === 0) return []
  const lines = missing.map((each) => `  - ${each.missing}: ${each.prepare}`)
  return ['Not prepared, so some checks are skipped:', ...lines]
}
