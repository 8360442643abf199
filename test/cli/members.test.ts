// Options that are members of a request.

import assert from 'node:assert/strict'
import test from 'node:test'
import { Command } from 'commander'
import { Type } from 'typebox'
import { timeText } from '../../src/contract/documents/described.ts'
import { readMoment } from '../../src/contract/moment.ts'
import { PauseBody } from '../../src/sides/admin/requests.ts'
import { membersOf, withMembers } from '../../src/tools/cli/members.ts'

const Members = Type.Object({
  lane: Type.String({ description: 'The lane, such as 1/push. Required for a key of brands.' }),
  state: Type.Optional(Type.Enum(['open', 'done'], { description: 'The state.' })),
  action_group: Type.Optional(Type.Integer({ minimum: 1, maximum: 9, description: 'The group.' })),
  for_seconds: Type.Optional(Type.Integer({ minimum: 1, description: 'How long.' })),
  from: Type.Optional(timeText(readMoment, 'Not before.')),
  all: Type.Optional(Type.Literal(true, { description: 'All of them.' })),
})
const flags = {
  lane: '--lane <lane>',
  state: '--state <state>',
  action_group: '--group <number>',
  for_seconds: '--for <time>',
  from: '--from <time>',
  all: '--all',
}

const command = (): Command =>
  withMembers(new Command(), Members, flags)
    .exitOverride()
    .configureOutput({ writeErr() {} })
    .option('--other')

const read = (...args: string[]): object => membersOf(command().parse(args, { from: 'user' }).opts(), flags)

test('an option has the name, the type and the unit of its member; other options are no members', () => {
  assert.deepEqual(read('--lane', '1/push', '--other'), { lane: '1/push' })
  const given = ['--lane', 'x', '--state', 'done', '--group', '9', '--for', '2min', '--from', '2026-01-31', '--all']
  const members = { lane: 'x', state: 'done', action_group: 9, for_seconds: 120, from: '2026-01-31', all: true }
  assert.deepEqual(read(...given), members)
  assert.deepEqual(read('--lane', 'x', '--for', '10ms'), { lane: 'x', for_seconds: 1 })
})

test('a time may be written as how long ago', () => {
  const before = Date.now()
  const { from } = read('--lane', 'x', '--from', '2h') as { from: string }
  assert.ok(Date.parse(from) >= before - 7_200_000 && Date.parse(from) <= Date.now() - 7_200_000, from)
})

test('a value outside of the schema is an error that states the expected value', () => {
  for (const [args, error] of [
    [[], /required option '--lane <lane>' not specified/],
    [['--group', '10'], /Give a whole number from 1 to 9\./],
    [['--group', '1e0'], /Give a whole number from 1 to 9\./],
    [['--state', 'x'], /Allowed choices are open, done\./],
    [['--from', 'x'], /Give a time, such as 2026-01-31T10:00:00Z, or how long ago: 2h\./],
    [['--for', '7'], /Add the unit/],
  ] as const)
    assert.throws(() => read(...(args.length > 0 ? ['--lane', 'x', ...args] : [])), error)
})

test('the help of an option is the description of its member', () => {
  const help = command().configureHelp({ helpWidth: 200 }).helpInformation()
  assert.match(help, /--lane <lane> +the lane, such as 1\/push; required for a key of brands\n/)
  assert.match(help, /--from <time> +not before; or how long ago: 2h\n/)
  const pause = withMembers(new Command(), PauseBody, { reason: '--reason <text>' }).helpInformation()
  assert.match(pause, /--reason <text> +why, for the next person/)
})
