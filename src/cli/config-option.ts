import { type Command, Option } from 'commander'

/** --config, the same for every command. */
export function withConfig(command: Command): Command {
  return command.addOption(
    new Option('-c, --config <file>', 'the configuration; default: bellwire.yaml here, if there is one').env(
      'BELLWIRE_CONFIG',
    ),
  )
}
