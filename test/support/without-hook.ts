// For `node --import`, in the test processes of `npm test`: the test runner has a hook for each promise and socket, which takes up to
// a fifth of the processor time of a test that sends many requests. The hook only finds the test that an uncaught error belongs to.
// Without it the error is printed, and its file fails. `node --test FILE` keeps the hook.

import { createRequire } from 'node:module'

const hooks = createRequire(import.meta.url)('node:async_hooks') as typeof import('node:async_hooks')
const { createHook } = hooks
hooks.createHook = (callbacks) => {
  const hook = createHook(callbacks)
  // The line after the message and this function is that of the caller.
  const isOfTestRunner = new Error().stack?.split('\n')[2]?.includes('node:internal/test_runner/') ?? false
  return isOfTestRunner ? Object.assign(hook, { enable: () => hook }) : hook
}
