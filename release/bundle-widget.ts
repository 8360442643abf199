// Bundles the widget: one ES module for each entry point, with its libraries.

import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export const entries = ['inbox', 'inbox-element', 'push-worker'] as const

/** @returns the text of the module that browsers load */
export async function bundleWidget(entry: (typeof entries)[number]): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../src/tools/widget/${entry}.ts`, import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    write: false,
    logLevel: 'error',
  })
  return (outputFiles[0] as { contents: Uint8Array }).contents
}

if (import.meta.main) {
  const folder = fileURLToPath(new URL('../dist/tools/widget/', import.meta.url))
  await mkdir(folder, { recursive: true })
  for (const entry of entries) await writeFile(`${folder}${entry}.js`, await bundleWidget(entry))
}
