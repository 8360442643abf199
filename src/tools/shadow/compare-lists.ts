// Compares two lists of users (§2.5, §7.3).

import type { Answer } from '../checker/exchange.ts'
import { errorOf, objectOf } from '../checker/read-answer.ts'
import { contentTypes, isJson } from './content-type.ts'
import type { Seen, Tally } from './tally.ts'

/** The answers of the operator in production and of Bellwire. */
interface Answers {
  readonly operator: Answer
  readonly bellwire: Answer
}

export function compareLists({ operator, bellwire }: Answers, seen: Seen, tally: Tally): void {
  const [operatorUsers, bellwireUsers] = [usersIn(operator), usersIn(bellwire)]
  if (operatorUsers && bellwireUsers) compareUsers(operatorUsers, bellwireUsers, seen, tally)
  if (operatorUsers && !isUtc(objectOf(operator)?.timestamp)) tally.add('reconciliation.timestamp', seen)
  if (operatorUsers && !isJson(operator))
    tally.add('reconciliation.content-type', { ...seen, ...contentTypes(operator, bellwire) })
  if (operatorUsers && !bellwireUsers) tally.add('reconciliation.source', seen)
  if (operatorUsers) return
  const fields = objectOf(operator)
  if (operator.status === 200 && !fields) tally.add('reconciliation.json', seen)
  else if (operator.status === 200 && fields && 'users' in fields && errorOf(operator) === undefined)
    tally.add('reconciliation.users', seen)
  // A field that it cannot list is answered 501 or 4xx (open point 16). Otherwise, its source may be away.
  else if (bellwireUsers && (operator.status === 501 || operator.status < 500) && operator.status !== 200)
    tally.add('reconciliation.source', seen)
  else if (bellwireUsers) tally.leaveOut('the operator could not list the users', seen.operator)
}

function compareUsers(
  operatorUsers: ReadonlySet<string>,
  bellwireUsers: ReadonlySet<string>,
  seen: Seen,
  tally: Tally,
): void {
  const onlyOperator = [...operatorUsers].filter((user) => !bellwireUsers.has(user))
  const onlyBellwire = [...bellwireUsers].filter((user) => !operatorUsers.has(user))
  const totals = { ...seen, operator: `${operatorUsers.size} users`, bellwire: `${bellwireUsers.size} users` }
  if (onlyOperator.length > 0)
    tally.add('reconciliation.only-true', { ...totals, operator: `${totals.operator}, ${more(onlyOperator)}` })
  if (onlyBellwire.length > 0)
    tally.add('reconciliation.true', { ...totals, bellwire: `${totals.bellwire}, ${more(onlyBellwire)}` })
}

/** The users of a list. Undefined if the answer is an error, or no list. */
function usersIn(answer: Answer): Set<string> | undefined {
  const users = answer.status === 200 && errorOf(answer) === undefined ? objectOf(answer)?.users : undefined
  return Array.isArray(users) && users.every((user) => typeof user === 'string') ? new Set(users) : undefined
}

const isUtc = (timestamp: unknown): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]00:?00)$/.test(String(timestamp))

/** @example '5 more: 1001, 1002, 1003 …' */
const more = (users: readonly string[]): string =>
  `${users.length} more: ${users.slice(0, 3).join(', ')}${users.length > 3 ? ' …' : ''}`
