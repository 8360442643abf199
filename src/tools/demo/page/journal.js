import { element } from '/elements.js'

const mostRows = 6

/** The message log: shows how far each message has come, from the events of the demo's journal. */
export function createJournal() {
  const list = document.getElementById('ways')
  const rows = new Map()

  return {
    clear() {
      rows.clear()
      list.replaceChildren()
    },
    show(entry) {
      const row = rowOf(entry)
      const previous = rows.get(entry.key)
      if (previous) previous.replaceWith(row)
      else list.prepend(row)
      rows.set(entry.key, row)
      while (list.children.length > mostRows) list.lastElementChild.remove()
      document.getElementById('ways-empty').hidden = true
    },
  }
}

function rowOf(entry) {
  const row = element('li', 'way')
  row.dataset.key = entry.key
  row.dataset.outcome = entry.state
  const time = entry.ms === undefined ? '' : `${entry.ms} ms`
  const who = `${entry.name}, ${entry.brand_name} ${entry.user_id}, ${entry.channel === 'push' ? 'push' : 'on-site'}`
  row.append(
    element('div', '', element('p', 'way-title', entry.title), element('p', 'way-who', who)),
    track(entry),
    element('p', 'way-outcome', entry.note ?? ''),
    element('p', 'way-time', time),
  )
  return row
}

/** The three stops of a message, and which of them it has passed. */
function track({ state, channel }) {
  const marks = {
    unreadable: ['refused', '', ''],
    waiting: ['done', 'waits', ''],
    refused: ['done', 'refused', ''],
    failed: ['refused', '', ''],
    arrived: ['done', 'done', 'done'],
    kept: ['done', 'done', 'waits'],
    replaced: ['done', 'done', ''],
  }[state]
  const names = ['Platform', 'Operator', channel === 'push' ? 'Device' : 'Inbox']
  const words = { done: 'passed', refused: 'ended here', waits: 'on its way', '': 'not reached' }
  const list = element('div', 'track')
  for (const [index, name] of names.entries()) {
    const kind = marks[index]
    list.append(element('span', `stop ${kind}`, element('span', 'stop-name', name), element('span', 'visually-hidden', words[kind])))
  }
  return list
}
