import { Command } from 'commander'
import { makeVapidKeys } from '../providers/web-push/vapid.ts'

export function vapidCommand(): Command {
  return new Command()
    .option('--json', 'print the pair as one JSON object')
    .addHelpText('after', help)
    .action(({ json }: { json?: true }) => {
      const { publicKey, privateKey } = makeVapidKeys()
      const pair = { public_key: publicKey, private_key: privateKey }
      if (json) return console.log(JSON.stringify(pair))
      for (const [name, key] of Object.entries(pair)) console.log(`${name}: ${key}`)
    })
}

const help = `
Makes a new pair of keys for Web Push, as the settings of a web-push service want them. The site gives the public key to
pushManager.subscribe() as applicationServerKey; the private key is a secret. Keep the pair: with another one, every browser has to
subscribe anew.

Examples:
  bellwire vapid
  bellwire vapid --json
`
