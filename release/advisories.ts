// npm run advisories: asks the registry for the known weaknesses of the packages that an installation gets.
// Exit code 0: none is known; 1: npm printed some; 2: the registry did not answer the question.

import { spawnSync } from 'node:child_process'

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' })
const { message, metadata, vulnerabilities } = JSON.parse(stdout) as {
  readonly message?: string
  readonly metadata?: { readonly vulnerabilities: { readonly total: number } }
  readonly vulnerabilities?: unknown
}
if (!metadata) {
  console.error(`the registry did not say which advisories there are (${message}): ask one that does, by --registry`)
  process.exitCode = 2
} else if (metadata.vulnerabilities.total > 0) {
  console.error(JSON.stringify(vulnerabilities, null, 2))
  process.exitCode = 1
} else console.log('no advisory is known for the packages of an installation')
