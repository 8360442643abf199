import { Command } from 'commander'
import { makeVapidKeys } from '../../subjects/providers/web-push/vapid.ts'

export function command(): Command {
  return new Command()
    .option('--json', 'print the key pair as one JSON object')
    .addHelpText('after', help)
    .action(({ json }: { json?: true }) => {
      const { publicKey, privateKey } = makeVapidKeys()
      const pair = { public_key: publicKey, private_key: privateKey }
      if (json) return console.log(JSON.stringify(pair))
      for (const [name, key] of Object.entries(pair)) console.log(`${name}: ${key}`)
    })
}

const help = `
Makes a new key pair for the settings of a Web Push service. The site passes the public key to pushManager.subscribe() as
applicationServerKey; the private key is a secret. Keep the pair: with a different one, every browser must subscribe again.

Examples:
  bellwire vapid
  bellwire vapid --json
`
