import { hash, randomBytes } from 'node:crypto'
import { Command } from 'commander'

export function command(): Command {
  return new Command().addCommand(newCommand()).addHelpText('after', help)
}

function newCommand(): Command {
  return new Command('new')
    .description('make an API key and its SHA-256')
    .option('--json', 'print both as one JSON object')
    .action(({ json }: { json?: true }) => {
      const key = randomBytes(24).toString('hex')
      const pair = { key, key_sha256: hash('sha256', key) }
      if (json) return console.log(JSON.stringify(pair))
      for (const [name, text] of Object.entries(pair)) console.log(`${name}: ${text}`)
    })
}

const help = `
Give the key to its holder. The configuration needs only key_sha256, from which nobody can compute the key.

Examples:
  bellwire keys new
  bellwire keys new --json
`
