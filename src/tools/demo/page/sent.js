import { Refused } from '/demo.js'

/** Shows the state of the message that was last sent from this page, from the events of the demo. */
export function createSentNote(node) {
  /** Entries by key, because an event may arrive before the answer to the request that sent its message. */
  const entries = new Map()
  let last

  return {
    sent(entry) {
      last = entries.get(entry.key) ?? entry
      setText(wordsFor(last))
    },
    notSent(error) {
      last = undefined
      setText(error instanceof Refused ? `Not sent: ${error.message}.` : 'Probably not sent: the demo did not answer.')
    },
    disconnected() {
      if (last?.state === 'waiting') setText(`The connection was lost while “${last.title}” was on its way.`)
    },
    follow(entry) {
      entries.set(entry.key, entry)
      if (entry.key !== last?.key) return
      last = entry
      setText(wordsFor(entry))
    },
    /** A new run of the demo uses the same keys again. */
    restarted() {
      entries.clear()
      if (last?.state === 'waiting') setText(`The outcome of “${last.title}” is unknown: the demo was restarted.`)
      last = undefined
    },
    clear() {
      last = undefined
      setText('')
    },
  }

  function setText(text) {
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
