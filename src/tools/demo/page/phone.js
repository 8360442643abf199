import { Refused } from '/demo.js'
import { element, thumb } from '/elements.js'

const most = { phone: 3, laptop: 2 }
const labels = { laptop: 'Laptop' }
const services = { fcm: 'FCM', apns: 'APNs', 'web-push': 'Web Push' }

/** A lock screen, with a switch that takes the device offline. `show` draws a complete state. */
export function createPhone({ owner, state: { name }, onSwitch }) {
  const kind = name === 'laptop' ? 'laptop' : 'phone'
  const rows = new Map()
  let switching = false

  const clock = element('p', 'phone-clock')
  const date = element('p', 'phone-date')
  const face = element('div', '', clock, date)
  face.setAttribute('aria-hidden', 'true')
  const list = element('ol', 'phone-notes')
  list.setAttribute('aria-live', 'polite')
  list.setAttribute('aria-label', `Notifications on ${owner.first}’s ${name}`)
  const screen = element('div', 'phone-screen', face, list)
  const status = element('p', 'phone-state')
  const toggle = element('button', 'switch', element('span', 'switch-knob'))
  toggle.type = 'button'
  toggle.setAttribute('role', 'switch')
  toggle.setAttribute('aria-label', `${owner.first}’s ${name} is online`)
  toggle.addEventListener('click', () => void switchDevice())
  const text = element('div', '', element('h3', 'phone-name', labels[name] ?? name), status)
  const item = element('li', 'phone', element('div', 'phone-stage', screen), element('div', 'phone-foot', text, toggle))
  item.dataset.kind = kind

  return {
    element: item,
    show(state, refusal) {
      item.dataset.id = state.id
      status.id = `state-${state.id}`
      toggle.setAttribute('aria-describedby', status.id)
      item.dataset.online = state.online
      toggle.setAttribute('aria-checked', state.online)
      setText(status, words(state, refusal))
      drawNotes(state)
      this.tick()
    },
    tick() {
      const now = new Date()
      setText(clock, clockOf(now))
      const today = now.toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long' })
      setText(date, item.dataset.online === 'true' ? today : 'No connection')
      for (const { row, at } of rows.values()) setText(row.querySelector('time'), since(at))
    },
  }

  function drawNotes({ notes }) {
    const visible = notes.slice(0, most[kind])
    const ids = new Set(visible.map(({ id }) => id))
    for (const [id, { row }] of rows) {
      if (ids.has(id)) continue
      row.remove()
      rows.delete(id)
    }
    // The oldest is drawn first, because each new notification is added on top.
    for (const note of visible.toReversed()) {
      if (rows.has(note.id)) continue
      const row = noteRow(owner.app, note)
      rows.set(note.id, { row, at: note.at })
      list.prepend(row)
    }
  }

  async function switchDevice() {
    if (switching) return
    switching = true
    try {
      await onSwitch(toggle.getAttribute('aria-checked') !== 'true')
    } catch (error) {
      status.setAttribute('role', 'alert')
      setText(status, error instanceof Refused ? `Not switched: ${error.message}.` : 'Not switched: the demo did not answer.')
    } finally {
      switching = false
    }
  }
}

function words({ online, service, waiting, total }, refusal) {
  const label = services[service]
  if (!online) {
    if (waiting === 0) return 'Offline'
    const kept = service === 'apns' ? 'the newest push waits' : waiting === 1 ? '1 push waits' : `${waiting} pushes wait`
    return `Offline, ${kept} at ${service === 'web-push' ? 'its push service' : label}`
  }
  if (total === 0 && refusal) return `Silent. The operator says: “${refusal}”`
  return `Online through ${label}, ${total || 'nothing'} so far`
}

function noteRow(app, note) {
  const time = element('time', '', since(note.at))
  time.dateTime = new Date(note.at).toISOString()
  const mark = element('span', 'brand-mark phone-app')
  mark.setAttribute('role', 'img')
  mark.setAttribute('aria-label', app)
  const picture = element('div', 'phone-picture', mark)
  if (note.image_url) picture.prepend(thumb(note))
  const text = element('div', '', element('p', 'phone-head', element('span', 'phone-title', note.title ?? app), time))
  if (note.body) text.append(element('p', 'phone-line', note.body))
  const row = element('li', 'phone-note', picture, text)
  row.dataset.id = note.id
  return row
}

function since(time, now = Date.now()) {
  const minutes = Math.floor(Math.max(0, now - time) / 60_000)
  if (minutes === 0) return 'now'
  return minutes < 60 ? `${minutes} min` : clockOf(new Date(time))
}

/** The time in the style of a lock screen, without AM and PM. */
function clockOf(now) {
  const parts = new Intl.DateTimeFormat([], { hour: 'numeric', minute: '2-digit' }).formatToParts(now)
  return parts.filter(({ type }) => type !== 'dayPeriod').map(({ value }) => value).join('').trim()
}

/** Sets a changed text only: a screen reader would read a repeated text again. */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}
