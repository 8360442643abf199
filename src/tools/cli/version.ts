import { readFile } from 'node:fs/promises'

/** The version of the package. */
export async function version(): Promise<string> {
  // The path is the same from src/tools/cli and from dist/cli.
  const packageJson = await readFile(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(packageJson) as { version: string }).version
}
