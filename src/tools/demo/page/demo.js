// The connection to the demo, which may be restarted while the page is open.

const retryMs = 1_000
const timeoutMs = 15_000

/**
 * Follows the demo while the page is open. The cast is read before each connection, because a restarted demo has another `run`
 * and another URL of the operator.
 *
 * @param {object} listeners
 * @param {(cast: { run: string, brands: object[], operator: string }) => void} listeners.onConnect  Called before the events of a connection. Each connection sends all events again.
 * @param {() => void} listeners.onDisconnect  Called also after each failed attempt to connect.
 * @param {(entry: object) => void} listeners.onEntry  Receives the current state of a message.
 * @param {(phone: object) => void} listeners.onPhone  Receives the current state of a phone.
 */
export async function followDemo({ onConnect, onDisconnect, onEntry, onPhone }) {
  while (true) {
    const cast = await ask('/demo/cast').catch(() => undefined)
    if (cast) {
      const source = new EventSource('/demo/events')
      source.addEventListener('open', () => onConnect(cast))
      source.addEventListener('message', ({ data }) => onEntry(JSON.parse(data)))
      source.addEventListener('phone', ({ data }) => onPhone(JSON.parse(data)))
      await new Promise((resolve) => source.addEventListener('error', resolve))
      source.close()
    }
    onDisconnect()
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

/** The demo refused a request. Any other error means that it did not answer. */
export class Refused extends Error {}

/** Sends a request to the page's own server: a POST if there is a body, else a GET. */
export async function ask(path, body) {
  const response = await fetch(path, {
    signal: AbortSignal.timeout(timeoutMs),
    ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Refused(answer.error)
  return answer
}
