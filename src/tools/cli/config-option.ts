import { type Command, Option } from 'commander'

/** Adds the option --config, which all commands share. */
export function withConfig(command: Command): Command {
  return command.addOption(
    new Option(
      '-c, --config <file>',
      'the configuration file; default: bellwire.yaml in this folder, if it exists',
    ).env('BELLWIRE_CONFIG'),
  )
}
