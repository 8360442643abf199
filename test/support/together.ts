// Short test files that share a process: most of their processor time was the import of both sides, once for each file.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = join(import.meta.dirname, '../../node_modules/.cache/together')
/** More files in a process would take longer than a slow file. */
const most = 6

/** The first test starts when all files are imported: otherwise it would run before the constants below it have a value. */
const begin = `import { before } from 'node:test'
const imported = Promise.withResolvers()
before(() => imported.promise)`

/** Writes modules that import the files, each some files of one folder. @returns the paths of the modules */
export function shareProcesses(files: readonly string[]): readonly string[] {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return [...Map.groupBy(files, (file) => dirname(file))].flatMap(([name, members]) => {
    const groups = Math.ceil(members.length / most)
    return Array.from({ length: groups }, (_, i) => {
      const group = join(folder, `${name.replaceAll(sep, '-')}-${i + 1}.test.mjs`)
      const imported = members.filter((_, n) => n % groups === i)
      const imports = imported.map((file) => `await import('${pathToFileURL(resolve(file)).href}')`)
      writeFileSync(group, [begin, ...imports, 'imported.resolve()', ''].join('\n'))
      return group
    })
  })
}
