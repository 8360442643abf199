// A platform that reconciles one field of brand 1. argv: store, URL of the operator.

import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { adminKey } from '../plans.ts'

const [store = '', url = ''] = process.argv.slice(2)
const platform = createPlatform({
  store,
  keys: [{ name: 'proof', key: adminKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }],
  lanes: [],
  reconciliation: [{ brand: '1', url, apiKey: 'key-of-brand-1', fields: ['blocked'] }],
})
await platform.start()
const listening = await listen('platform', chain(platform.handler, platform.admin.handler))
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: { url: listening.url } })
