import { ago, element, icon } from '/elements.js'

const mostWays = 5
const mostPushes = 4
const tick = 'm2.5 6.5 2.5 2.5 4.500-5.500'
const cross = 'm3 3 6 6m0-6-6 6'
const phone = 'M8 3.5h8a1.500 1.500 0 0 1 1.500 1.500v14a1.500 1.500 0 0 1-1.500 1.500H8A1.500 1.500 0 0 1 6.500 19V5A1.500 1.500 0 0 1 8 3.500zM11 17.500h2'

/** Shows each message's way from the platform to the person, as the demo's own journal tells it. */
export function showJournal(source) {
  const ways = new Map()
  const pushes = new Map()
  let pushed = 0

  source.addEventListener('message', ({ data }) => {
    const entry = JSON.parse(data)
    show(entry)
    if (entry.channel === 'push' && entry.state === 'arrived' && !pushes.has(entry.key)) showPush(entry)
  })
  // The journal begins anew with each connection.
  source.addEventListener('open', () => {
    ways.clear()
    pushes.clear()
    pushed = 0
    document.getElementById('ways').replaceChildren()
    document.getElementById('pushes').replaceChildren()
  })
  setInterval(() => {
    for (const { row, entry } of pushes.values()) row.querySelector('.push-time').textContent = ago(entry.at)
  }, 5_000)

  function show(entry) {
    const list = document.getElementById('ways')
    const fresh = way(entry)
    const shown = ways.get(entry.key)
    if (shown) shown.replaceWith(fresh)
    else list.prepend(fresh)
    ways.set(entry.key, fresh)
    while (list.children.length > mostWays) list.lastElementChild.remove()
    document.getElementById('ways-empty').hidden = true
  }

  function showPush(entry) {
    const list = document.getElementById('pushes')
    const badge = element('span', 'push-icon', icon(phone, 24))
    const text = element('span', '', element('span', 'push-title', entry.title), element('span', 'push-who', `${entry.name}, ${entry.brand_name}`))
    const row = element('li', 'push', badge, text, element('span', 'push-time', ago(entry.at)))
    pushes.set(entry.key, { row, entry })
    list.prepend(row)
    while (list.children.length > mostPushes) list.lastElementChild.remove()
    document.getElementById('pushes-empty').hidden = true
    const count = document.getElementById('push-count')
    count.hidden = false
    count.textContent = String(++pushed)
  }
}

function way(entry) {
  const row = element('li', 'way')
  row.dataset.key = entry.key
  row.dataset.outcome = entry.state
  const time = entry.ms === undefined ? '' : `${entry.ms} ms`
  row.append(
    element('div', 'way-head', element('span', 'way-title', entry.title), element('span', 'way-time', time)),
    element('p', 'way-who', `${entry.name}, ${entry.brand_name} ${entry.user_id}, ${entry.channel === 'push' ? 'push' : 'on-site'}`),
    track(entry),
  )
  if (entry.note) row.append(element('p', 'way-outcome', entry.note))
  return row
}

/** Which of the three stops it has passed. */
function track({ state, channel }) {
  const marks = {
    unreadable: ['refused', '', ''],
    waiting: ['done', 'waits', ''],
    refused: ['done', 'refused', ''],
    arrived: ['done', 'done', 'done'],
  }[state]
  const names = ['Platform', 'Operator', channel === 'push' ? 'Phone' : 'Inbox']
  const words = { done: 'passed', refused: 'refused here', waits: 'on its way', '': 'not reached' }
  const list = element('div', 'track')
  for (const [index, name] of names.entries()) {
    const kind = marks[index]
    const mark = element('span', 'stop-mark')
    if (kind === 'done') mark.append(icon(tick))
    if (kind === 'refused') mark.append(icon(cross))
    const stop = element('span', `stop ${kind}`, mark, element('span', 'stop-name', name), element('span', 'visually-hidden', words[kind]))
    list.append(stop)
  }
  return list
}
