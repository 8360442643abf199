import { readFileSync } from 'node:fs'

/** The version of the package. */
export function version(): string {
  // The path is the same from src/base/runtime and from dist/base/runtime.
  const packageJson = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(packageJson) as { version: string }).version
}
