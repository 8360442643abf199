import { writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import { clock } from '../../../base/runtime/clock.ts'
import { profileSchema } from '../../../contract/integration-profile.ts'
import { loadConfig } from '../../../sides/config/load.ts'
import { withConfig } from '../config-option.ts'
import { refuseWith } from '../exit.ts'
import { noSection } from '../no-section.ts'

/** `bellwire operator profile`: the integration profile (§1.6), from the configuration. No server needs to run. */
export function profileCommand(): Command {
  return withConfig(new Command('profile').description('print the integration profile for the platform'))
    .option('-o, --out <file>', 'write the profile to this file')
    .option('--schema', 'print the JSON Schema of profiles instead')
    .addHelpText('after', help)
    .action(async ({ out, schema }: { out?: string; schema?: true }, command: Command) => {
      if (schema) return print(profileSchema, out)
      // The option --config may be written before or after `profile`.
      const { config: file } = command.optsWithGlobals<{ config?: string }>()
      const { operator } = await loadConfig(file)
      if (!operator) throw noSection('operator', file)
      const { operatorProfile } = await import('../../../sides/config/compose/operator-profile.ts')
      await print(await operatorProfile(operator, clock.now()), out)
    })
}

async function print(value: object, file: string | undefined): Promise<void> {
  const text = `${JSON.stringify(value, undefined, 2)}\n`
  if (file === undefined) return void process.stdout.write(text)
  await writeFile(file, text).catch(refuseWith(`--out ${file} cannot be written`))
}

const help = `
The profile states what the platform needs before go-live: the address, the limits, and the fingerprint of each API key. It contains no key
and no other secret. Give the file to the platform, and the key in another, confidential way. docs/go-live.md describes both.

Examples:
  bellwire operator profile
  bellwire operator profile --schema
  bellwire operator profile --config /etc/bellwire.yaml --out operator-profile.json
`
