// The demo behind the page, which may be stopped and started again while the page is open.

const retryMs = 1_000
const patienceMs = 15_000

/**
 * Follows the demo for as long as the page is open. Before each connection the cast is read anew: a demo that was restarted
 * has another `run`, and its operator another address.
 *
 * @param {object} listeners
 * @param {(cast: { run: string, brands: object[], operator: string }) => void} listeners.onConnect  Before the events of a connection, which begin anew with each.
 * @param {() => void} listeners.onDisconnect  Also after each attempt that was in vain.
 * @param {(entry: object) => void} listeners.onEntry  What became of a message so far.
 * @param {(phone: object) => void} listeners.onPhone  All that a phone shows.
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

/** The demo said no. Other errors mean that it did not answer. */
export class Refused extends Error {}

/** Asks the page's own server; with a body, by POST. */
export async function ask(path, body) {
  const response = await fetch(path, {
    signal: AbortSignal.timeout(patienceMs),
    ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Refused(answer.error)
  return answer
}
