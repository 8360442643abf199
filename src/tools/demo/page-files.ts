import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFiles } from '../../sides/console/files.ts'
import { readWidget } from './read-widget.ts'

export interface PageFile {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' http://127.0.0.1:* http://localhost:*; base-uri 'none'; form-action 'self'; frame-ancestors 'self'; frame-src 'self'"

/** Reads the files of the page and the widget that it shows, by URL path. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>()
  await addFolder(fileURLToPath(new URL('./page/', import.meta.url)), '/')
  add('/bellwire/inbox-element.js', await readWidget('inbox-element'))
  for (const [name, { bytes, type }] of Object.entries(await createFiles().read()))
    files.set(`/console/files/${name}`, { bytes, headers: { 'content-type': type, 'content-encoding': 'gzip' } })
  return files

  async function addFolder(folder: string, urlPath: string): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) await addFolder(path, `${urlPath}${entry.name}/`)
      else add(urlPath + entry.name, await readFile(path))
    }
  }

  function add(path: string, bytes: Uint8Array): void {
    const type = types[extname(path)]
    if (type === undefined) return
    const headers = { 'content-type': type, 'x-content-type-options': 'nosniff', 'content-security-policy': policy }
    files.set(path, { bytes, headers })
  }
}
