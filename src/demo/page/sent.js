import { Refused } from '/demo.js'

/** Says what became of the message that was sent last from this page, as the demo's events tell it. */
export function createSentNote(node) {
  /** An event may be faster than the answer that says which message it is about. */
  const entries = new Map()
  let last

  return {
    sent(entry) {
      last = entries.get(entry.key) ?? entry
      say(wordsFor(last))
    },
    notSent(error) {
      last = undefined
      say(error instanceof Refused ? `Not sent: ${error.message}.` : 'Probably not sent: the demo did not answer.')
    },
    disconnected() {
      if (last?.state === 'waiting') say(`The connection was lost while “${last.title}” was on its way.`)
    },
    follow(entry) {
      entries.set(entry.key, entry)
      if (entry.key !== last?.key) return
      last = entry
      say(wordsFor(entry))
    },
    /** Another demo numbers its messages anew. */
    restarted() {
      entries.clear()
      if (last?.state === 'waiting') say(`What became of “${last.title}” is not known: the demo was restarted.`)
      last = undefined
    },
    clear() {
      last = undefined
      say('')
    },
  }

  function say(text) {
    if (node.textContent !== text) node.textContent = text
  }
}

function wordsFor({ state, title, channel, note, ms }) {
  const message = `“${title}”`
  const because = note ? `: ${note}.` : '.'
  switch (state) {
    case 'waiting':
      return note ? `${message} is still on its way${because}` : `${message} is on its way from the platform to the operator.`
    case 'arrived':
      return channel === 'push' ? `${message} arrived. ${note}` : `${message} arrived in the inbox in ${ms} ms.`
    case 'kept':
    case 'replaced':
      return `The operator sent ${message}. ${note}`
    case 'refused':
      return `The operator refused ${message}. It says: “${note}”.`
    default:
      return `${message} failed${because}`
  }
}
