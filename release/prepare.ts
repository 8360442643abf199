// Run by `npm pack` and `npm publish` (prepack): writes the files of the package that are made from package-lock.json.
//
// - npm-shrinkwrap.json: the exact version and digest of each package that an installation gets, without addresses: npm asks the
//   registry of the installation
// - sbom.cdx.json: the same packages with their licences, as CycloneDX
//
// Both are the same for each pack of a commit. postpack removes them: npm would prefer the shrinkwrap to package-lock.json.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface LockEntry {
  readonly dev?: boolean
  readonly devDependencies?: unknown
}

interface Sbom {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp: string }
}

const root = join(import.meta.dirname, '..')
const shrinkwrap = withoutDevelopment(read('package-lock.json'))
write(join(root, 'npm-shrinkwrap.json'), shrinkwrap)
write(join(root, 'sbom.cdx.json'), withoutMoment(readSbom()))

function withoutDevelopment(lock: { readonly packages: Readonly<Record<string, LockEntry>> }): unknown {
  const installed = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true)
  const packages = installed.map(([path, { devDependencies: _, ...entry }]) => [path, entry])
  return { ...lock, packages: Object.fromEntries(packages) }
}

/** In a folder of its own: npm's `--omit dev` also omits packages that a development package needs too, and the folder is the name. */
function readSbom(): Sbom {
  const parent = mkdtempSync(join(tmpdir(), 'bellwire-sbom-'))
  const folder = join(parent, 'bellwire')
  const { devDependencies: _, ...manifest } = read('package.json')
  mkdirSync(folder)
  write(join(folder, 'package.json'), manifest)
  write(join(folder, 'package-lock.json'), shrinkwrap)
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only']
  try {
    return JSON.parse(execFileSync('npm', ['sbom', ...options], { cwd: folder, encoding: 'utf8' }))
  } finally {
    rmSync(parent, { recursive: true })
  }
}

function withoutMoment({ serialNumber: _, ...sbom }: Sbom): unknown {
  const { timestamp: __, ...metadata } = sbom.metadata
  return { ...sbom, metadata }
}

function read(name: string) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}

function write(path: string, content: unknown): void {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`)
}
