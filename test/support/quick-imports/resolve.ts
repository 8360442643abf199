// For `node --import`, in the processes of `npm test`: most of the processor time of a short process is the search for its 1,700
// modules. Our files are taken as they are written in the import, and packages of many files from one bundle each.

import { readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'

const root = new URL('../../../', import.meta.url).href
const folder = new URL(import.meta.url).searchParams.get('bundles') as string
const http = new URL('http.ts', import.meta.url).href
const bundles = new Set(readdirSync(new URL(folder)))

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context
    // An installed copy of Bellwire, and a project of a test outside of this checkout, import as they would without us.
    if (!parentURL?.startsWith(root) || parentURL.startsWith(`${root}node_modules/`)) return next(specifier, context)
    if (specifier.startsWith('.') && specifier.endsWith('.ts'))
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true }
    if (specifier === 'node:http') return { url: http, format: 'module-typescript', shortCircuit: true }
    const bundle = `${specifier.replace('/', '+')}.mjs`
    return bundles.has(bundle)
      ? { url: folder + bundle, format: 'module', shortCircuit: true }
      : next(specifier, context)
  },
})
