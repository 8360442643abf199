import { access, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Argument, Command } from 'commander'
import { baseUrl, brand, store } from '../../base/runtime/kinds.ts'
import { makeFolder } from '../../base/runtime/make-folder.ts'
import { configSchema } from '../../sides/config/config-schema.ts'
import { loadConfig } from '../../sides/config/load.ts'
import { composeAll } from './config.ts'
import { ask } from './confirm.ts'
import { CliError, exit } from './exit.ts'
import { type NewFiles, operatorFiles, platformFiles } from './init/configuration.ts'

interface Options {
  readonly dir: string
  readonly brands?: string
  readonly store?: string
  readonly push?: string
  readonly users?: string
  readonly operator?: string
  readonly operatorKeyFile?: string
}

export function command(): Command {
  return new Command()
    .addArgument(new Argument('[side]', 'the side that you run').choices(['operator', 'platform']))
    .option('--dir <folder>', 'the folder of the new files', '.')
    .option('--brands <numbers>', 'the brands, with commas between them')
    .option('--store <address>', 'sqlite:PATH, or postgres://USER:PASSWORD@HOST/DATABASE')
    .option('--push <service>', 'operator: web-push, or recording, which writes messages to a file')
    .option('--users <file>', 'operator: a CSV file of blocked, excluded and consenting users, or none')
    .option('--operator <url>', 'platform: the address of the operator')
    .option('--operator-key-file <file>', 'platform: the file with the key that the operator issued')
    .addHelpText('after', help)
    .action(async (side: string | undefined, options: Options) => {
      const folder = resolve(options.dir)
      const answer = side ?? (await question('Which side do you run, operator or platform?', 'operator', isSide))
      const files = answer === 'operator' ? await askOperator(options) : await askPlatform(options)
      await writeFiles(folder, files).catch(refuseFolder)
      await composeAll(await loadConfig(join(folder, 'bellwire.yaml'), {}))
      console.log(nextSteps(answer, options.dir, files.firstMessage))
    })
}

async function askOperator(given: Options): Promise<NewFiles> {
  return operatorFiles({
    ...(await askShared(given)),
    push: (await question('Push service, web-push or recording?', 'web-push', isPush, given.push)) as 'web-push',
    users: await question('CSV file of users and their consent?', 'none', () => true, given.users),
  })
}

async function askPlatform(given: Options): Promise<NewFiles> {
  const shared = await askShared(given)
  const operator = await question('Address of the operator?', 'http://127.0.0.1:7001', isAddress, given.operator)
  const file = await question('File with its key?', 'operator.key', () => true, given.operatorKeyFile)
  const operatorKey = await readFile(file, 'utf8').catch((error: Error) => {
    const remedy = 'write the key that the operator issued into a file, and name it with --operator-key-file'
    throw new CliError(exit.usage, `${file} cannot be read: ${error.message}; ${remedy}`)
  })
  return platformFiles({ ...shared, operator, operatorKey: operatorKey.trim() })
}

async function askShared(given: Options): Promise<{ brands: string[]; store: string }> {
  const brands = await question('Numbers of the brands, with commas between them?', '1', areBrands, given.brands)
  return {
    brands: brands.split(',').map((each) => each.trim()),
    store: await question('Store?', 'sqlite:bellwire.db', isStore, given.store),
  }
}

type Check = (answer: string) => unknown
const isSide: Check = (answer) => answer === 'operator' || answer === 'platform'
const isPush: Check = (answer) => answer === 'web-push' || answer === 'recording'
const isStore: Check = (answer) => store({ help: '' }).parse(answer, '.')
const isAddress: Check = (answer) => baseUrl({ help: '' }).parse(answer, '.')
const areBrands: Check = (answer) => answer.split(',').every((each) => brand({ help: '' }).parse(each.trim(), '.'))

/** Asks until the answer is valid. Without a terminal, an answer that no option gives is the default. */
async function question(text: string, preset: string, isValid: Check, given?: string): Promise<string> {
  if (given !== undefined && !isValid(given)) throw new CliError(exit.usage, `${text} "${given}" is no valid answer`)
  if (given !== undefined || !process.stdin.isTTY) return given ?? preset
  for (;;) {
    const answer = (await ask(`${text} [${preset}] `)) || preset
    if (isValid(answer)) return answer
    console.error(`"${answer}" is no valid answer.`)
  }
}

function refuseFolder(error: Error): never {
  throw error instanceof CliError ? error : new CliError(exit.usage, `--dir cannot be written: ${error.message}`)
}

/** Replaces no file. Only the owner can read the secrets. */
async function writeFiles(folder: string, { configuration, secrets }: NewFiles): Promise<void> {
  const schema = `${JSON.stringify(configSchema())}\n`
  const files = { 'bellwire.yaml': configuration, 'bellwire.schema.json': schema, ...secrets }
  for (const name of Object.keys(files)) {
    const exists = await access(join(folder, name)).then(
      () => true,
      () => false,
    )
    if (exists) throw new CliError(exit.usage, `${join(folder, name)} exists: nothing was written; name another --dir`)
  }
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    makeFolder(dirname(path), name in secrets ? 0o700 : undefined)
    await writeFile(path, content, { flag: 'wx', mode: name in secrets ? 0o600 : 0o644 })
  }
}

function nextSteps(side: string, dir: string, firstMessage: string): string {
  // With npx, the command is usually not on PATH.
  const bellwire = process.env.npm_command === 'exec' ? 'npx bellwire' : 'bellwire'
  const config = dir === '.' ? '' : ` --config ${join(dir, 'bellwire.yaml')}`
  const peer =
    side === 'operator'
      ? `Give ${join(dir, 'keys/platform')} and the output of \`${bellwire} operator profile${config}\` to the platform.`
      : `Your CRM sends records with the key in ${join(dir, 'keys/administrator')}.`
  return `Written: ${join(dir, 'bellwire.yaml')}, and one file for each secret in ${join(dir, 'keys')}. The configuration is valid.

  ${bellwire} ${side}${config}
  ${bellwire} push${config} ${firstMessage}
  ${bellwire} doctor${config}

${peer}`
}

const help = `
Writes bellwire.yaml with fresh keys, each in a file of its own, and checks it. Options answer the questions; without a terminal,
the defaults answer the others. Existing files are never replaced.

Examples:
  bellwire init
  bellwire init operator --brands 1,2 --push recording
  bellwire init platform --operator https://operator.example/api --operator-key-file operator.key
`
