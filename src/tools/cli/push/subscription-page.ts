// The page of `bellwire push --subscribe`.

import { randomBytes } from 'node:crypto'
import { escaped } from '../../checker/reports/html-text.ts'

interface SubscriptionPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

interface Subscriber {
  readonly user: string
  readonly brand: string
  /** The VAPID public key, in base64url. */
  readonly publicKey: string
}

export function pageOf({ user, brand, publicKey }: Subscriber): SubscriptionPage {
  const nonce = randomBytes(16).toString('base64')
  const inline = `'nonce-${nonce}'`
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': `default-src 'none'; script-src ${inline}; style-src ${inline}; connect-src 'self'; worker-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    },
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Subscribe a browser · Bellwire</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }
button { font: inherit; padding: .5rem 1.5rem }
</style>
</head>
<body>
<main>
<h1>Subscribe this browser</h1>
<p>It gets the push messages of user <b>${escaped(user)}</b> of brand ${escaped(brand)}.</p>
<button>Subscribe</button>
<p role="status"></p>
</main>
<script nonce="${nonce}">
const button = document.querySelector('button')
const status = document.querySelector('[role=status]')
button.addEventListener('click', async () => {
  button.disabled = true
  status.textContent = 'Subscribing…'
  try {
    await subscribeAndLink()
    status.textContent = 'Subscribed. The message will be a notification of this browser.'
  } catch (error) {
    status.textContent = error.message
    button.disabled = false
  }
})
async function subscribeAndLink() {
  if (!navigator.serviceWorker || !window.PushManager)
    throw new Error('This window has no Web Push. Use a browser that has it, at 127.0.0.1 or localhost, and no private window.')
  if (await Notification.requestPermission() !== 'granted')
    throw new Error('The browser shows no notifications of this page. Allow them in the settings of the page, and subscribe again.')
  await navigator.serviceWorker.register('/push-worker.js')
  const { pushManager } = await navigator.serviceWorker.ready
  const subscribe = () => pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: '${publicKey}' })
  const subscription = await subscribe().catch(async (error) => {
    // The browser has a subscription with another key.
    const other = error.name === 'InvalidStateError' && await pushManager.getSubscription()
    if (!other) throw error
    await other.unsubscribe()
    return subscribe()
  })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(location.pathname, { method: 'POST', headers, body: JSON.stringify(subscription) })
  if (!answer.ok) throw new Error(await answer.text())
}
</script>
</body>
</html>
`,
  }
}
