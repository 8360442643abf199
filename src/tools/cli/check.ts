import { Command } from 'commander'
import { checkOperatorCommand } from './check/operator.ts'
import { checkPlatformCommand } from './check/platform.ts'

/** `bellwire check`: plays the other side, and reports every rule that an operator or a platform violates. */
export function command(): Command {
  return new Command()
    .addCommand(checkOperatorCommand())
    .addCommand(checkPlatformCommand())
    .addHelpText(
      'after',
      '\nExamples:\n  bellwire check operator --url https://operator.example --user 1001\n  bellwire check platform --batch-max 500 --platform-timeout 30s\n',
    )
}
