import { Argument, Command } from 'commander'

/** @param loadAll loads all commands, by name */
export function command(loadAll: () => Promise<readonly Command[]>): Command {
  return new Command()
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh']))
    .addHelpText('after', help)
    .action(async (shell: keyof typeof scripts) => {
      console.log(scripts[shell]((await loadAll()).flatMap(completionsOf)))
    })
}

const help = `
Prints a script that completes commands, subcommands, options and the words of options.

Examples:
  source <(bellwire completion bash)      # in ~/.bashrc
  source <(bellwire completion zsh)       # in ~/.zshrc
`

/** The words that can follow some words: 'failed replay', or 'send --channel'. */
interface Completion {
  readonly after: string
  readonly words: readonly string[]
}

function completionsOf(command: Command, parent: unknown = ''): readonly Completion[] {
  const after = `${typeof parent === 'string' && parent !== '' ? `${parent} ` : ''}${command.name()}`
  const choices = command.options.flatMap(({ long, argChoices }) =>
    long && argChoices ? [{ after: `${after} ${long}`, words: argChoices }] : [],
  )
  const words = [
    ...command.commands.map((each) => each.name()),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
    '--help',
  ]
  return [{ after, words }, ...choices, ...command.commands.flatMap((each) => completionsOf(each, after))]
}

const bash = (all: readonly Completion[]): string => `_bellwire() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]} words=
  [ "$COMP_CWORD" -eq 1 ] && first=
  for key in "$first $second $previous" "$first $previous" "$first $second" "$first"; do
    case "$key" in
${all.map(({ after, words }) => `      '${after}') words='${words.join(' ')}' ;;`).join('\n')}
      '') words='${commandsOf(all).join(' ')}' ;;
    esac
    [ -n "$words" ] && break
  done
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _bellwire bellwire`

const zsh = (all: readonly Completion[]): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(all)}`

const commandsOf = (all: readonly Completion[]): string[] =>
  all.flatMap(({ after }) => (after.includes(' ') ? [] : [after]))

const scripts = { bash, zsh }
