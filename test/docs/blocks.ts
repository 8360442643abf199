// The fenced blocks of README and docs.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')
export const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()]
export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

export interface Snippet {
  readonly from: string
  readonly text: string
}

export function fencedSnippets(file: string, ...languages: string[]): Snippet[] {
  return [...read(file).matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].flatMap(
    ([, indent = '', language = '', text = ''], i) =>
      languages.includes(language)
        ? [{ from: `${file} (block ${i + 1})`, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }]
        : [],
  )
}
