// Asks for what is not prepared yet. Each question may be left open.

import { present } from '../../../base/runtime/present.ts'
import { ask } from '../confirm.ts'
import type { FactOptions } from './facts.ts'
import type { Preparation } from './preparation.ts'

export async function askPreparation(
  { user, blockedUser, userWithoutDevice }: FactOptions,
  { users }: Preparation,
): Promise<Pick<FactOptions, 'user' | 'blockedUser' | 'userWithoutDevice'>> {
  const askFor = async (known: string | undefined, question: string): Promise<string | undefined> =>
    known ?? ((await ask(question)) || undefined)
  const normal = await askFor(user ?? users?.normal, 'A test user who can receive messages on all channels: ')
  const blocked = await askFor(blockedUser ?? users?.blocked, 'A test user who is blocked (Enter: none): ')
  const deviceless = await askFor(
    userWithoutDevice ?? users?.withoutDevice,
    'A test user without a device (Enter: none): ',
  )
  return present({ user: normal, blockedUser: blocked, userWithoutDevice: deviceless })
}
