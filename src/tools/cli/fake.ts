import { Command } from 'commander'
import { fakeOperatorCommand } from './fake/operator.ts'
import { fakePlatformCommand } from './fake/platform.ts'

/** `bellwire fake`: the other side, with faults on request, for the development of a platform or an operator. */
export function command(): Command {
  return new Command().addCommand(fakeOperatorCommand()).addCommand(fakePlatformCommand())
}
