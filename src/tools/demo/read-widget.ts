import { readFile } from 'node:fs/promises'

/** A module for browsers of src/tools/widget. The package has it built; a checkout builds it from the source. */
export async function readWidget(entry: 'inbox-element' | 'push-worker'): Promise<Uint8Array> {
  if (import.meta.url.endsWith('.js')) return readFile(new URL(`../widget/${entry}.js`, import.meta.url))
  const bundler = new URL('../../../release/bundle-widget.ts', import.meta.url)
  const { bundleWidget } = (await import(bundler.href)) as Bundler
  return bundleWidget(entry)
}

interface Bundler {
  bundleWidget(entry: string): Promise<Uint8Array>
}
