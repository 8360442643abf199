// The fenced blocks of README and docs.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')
export const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()]
export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

export interface Snippet {
  readonly from: string
  readonly language: string
  readonly text: string
}

/** The blocks of these languages; without a language, all blocks. */
export function fencedSnippets(file: string, ...languages: string[]): Snippet[] {
  return [...read(file).matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].flatMap(
    ([, indent = '', language = '', text = ''], i) =>
      languages.length === 0 || languages.includes(language)
        ? [{ from: `${file} (block ${i + 1})`, language, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }]
        : [],
  )
}
