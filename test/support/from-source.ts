// For `node --import`: resolves the import of 'bellwire' in an example project to the source of this checkout.

import { registerHooks } from 'node:module'

const source = new URL('../../src/index.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'bellwire' ? { url: source, shortCircuit: true } : next(specifier, context),
})
