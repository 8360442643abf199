import { readdir, readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PageFile {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' http://127.0.0.1:* http://localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Reads the files of the page and of the only library that it uses, by URL path. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>()
  await addFolder(fileURLToPath(new URL('./page/', import.meta.url)), '/')
  await addFolder(dirname(fileURLToPath(import.meta.resolve('eventsource-parser'))), '/vendor/eventsource-parser/')
  return files

  async function addFolder(folder: string, urlPath: string): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const type = types[extname(entry.name)]
      if (entry.isDirectory()) await addFolder(path, `${urlPath}${entry.name}/`)
      else if (type !== undefined) {
        const headers = { 'content-type': type, 'x-content-type-options': 'nosniff', 'content-security-policy': policy }
        files.set(urlPath + entry.name, { bytes: await readFile(path), headers })
      }
    }
  }
}
