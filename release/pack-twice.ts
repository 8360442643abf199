// npm run pack-twice: packs two clones of the last commit, and fails if the packages differ.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'bellwire-pack-twice-'))
try {
  const digests = ['one', 'the-other'].map((name) => {
    const clone = join(folder, name)
    execFileSync('git', ['clone', '-q', root, clone])
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    const printed = execFileSync('npm', ['pack', '--json', '--silent'], { cwd: clone, encoding: 'utf8' })
    const [{ filename }] = JSON.parse(printed.slice(printed.indexOf('['))) as [{ filename: string }]
    return createHash('sha256')
      .update(readFileSync(join(clone, filename)))
      .digest('hex')
  })
  console.log(digests.join('\n'))
  if (digests[0] !== digests[1]) throw new Error('two packs of the same commit differ')
} finally {
  rmSync(folder, { recursive: true })
}
