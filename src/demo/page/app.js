// The site of one of the two operators, for one of its users.

import { ask, followDemo, Refused } from '/demo.js'
import { followInbox } from '/inbox-client.js'
import { createInboxList } from '/inbox-list.js'
import { createJournal } from '/journal.js'
import { createPhones } from '/phones.js'
import { createSentNote } from '/sent.js'
import { announce, showToast } from '/toast.js'

const $ = (id) => document.getElementById(id)
const inbox = createInboxList({ onOpen: (notification) => mark(notification.url ? 'clicked' : 'read', { ids: [notification.site_notification_id] }) })
const journal = createJournal()
const phones = createPhones({ onSwitch: (id, online) => change('/demo/phone', { id, online }) })
const sentNote = createSentNote($('send-note'))

/** The current or the last run of the demo. */
let demo
let connected = false
let people = []
let current
let inboxState = 'connecting'
let followed

$('who').addEventListener('change', () => {
  location.hash = $('who').value
})
addEventListener('hashchange', () => {
  if (personInHash()) switchTo(personInHash())
})
$('send').addEventListener('click', () => void send($('send'), 'site'))
$('send-push').addEventListener('click', () => void send($('send-push'), 'push'))
$('read-all').addEventListener('click', () => mark('read', { all: true }))

void followDemo({
  onConnect(cast) {
    connected = true
    journal.clear()
    if (cast.run !== demo?.run) startRun(cast)
    showState()
  },
  onDisconnect() {
    connected = false
    sentNote.disconnected()
    showState()
  },
  onEntry(entry) {
    journal.show(entry)
    phones.followMessage(entry)
    sentNote.follow(entry)
  },
  onPhone: phones.follow,
})

/** Starts with a new run of the demo: at first, and after each restart. */
function startRun(cast) {
  demo = cast
  people = cast.brands.flatMap((brand) => brand.users.map((user) => ({ brand, user, key: `${brand.id}/${user.id}` })))
  $('who').replaceChildren(...cast.brands.map(optionsOf))
  phones.restarted()
  sentNote.restarted()
  show(personInHash() ?? people.find(({ key }) => key === current?.key) ?? people[0])
}

function optionsOf(brand) {
  const group = document.createElement('optgroup')
  group.label = `${brand.name}, brand ${brand.id}`
  for (const user of brand.users) group.append(new Option(`${user.id} ${user.name}`, `${brand.id}/${user.id}`))
  return group
}

function personInHash() {
  return people.find(({ key }) => `#${key}` === location.hash)
}

function switchTo(person) {
  sentNote.clear()
  show(person)
}

function show(person) {
  followed?.stop()
  current = person
  const { brand, user, key } = person
  document.documentElement.dataset.brand = brand.id
  $('who').value = key
  $('brand-name').textContent = brand.name
  $('kicker').textContent = brand.tagline
  $('greeting').textContent = `${greeting()}, ${firstName(user)}`
  $('lead').textContent = `${brand.name} as user ${user.id} of brand ${brand.id} sees it. ${leadFor(user)}`
  $('toasts').replaceChildren()
  inbox.clear()
  showUnread({ unread: 0 })
  phones.open(brand, user)
  followed = followInbox({
    url: demo.operator,
    getToken: () => getToken(brand.id, user.id),
    onCounts: showUnread,
    onNotification(notification, arrival) {
      inbox.show(notification, arrival)
      if (arrival !== 'new') return
      // If the list is in view, it shows the notification at its top.
      if (inbox.isInView()) announce(notification)
      else showToast(notification)
      ring()
    },
    onState(state, error) {
      inboxState = state
      if (state === 'live') inbox.explain('Nothing here yet. Send an on-site notification.')
      if (state === 'refused') inbox.explain(`The operator keeps this inbox closed, with the reason: “${error}”.`)
      showState()
    },
  })
}

function leadFor(user) {
  const devices = user.devices.length > 1 ? 'devices' : user.devices[0].name
  return user.excluded
    ? `${firstName(user)} has excluded herself: the operator keeps her inbox closed and refuses every message to her.`
    : `New notifications appear in the inbox and on the ${devices} by themselves.`
}

const firstName = ({ name }) => name.split(' ')[0]

// In production, the token comes from the operator's backend, which has the signed-in user.
async function getToken(brand, user) {
  const { token } = await ask('/demo/token', { brand, user_id: user })
  return token
}

async function send(button, channel) {
  if (button.ariaDisabled === 'true') return
  // A disabled button would lose the focus.
  button.ariaDisabled = 'true'
  try {
    sentNote.sent(await change('/demo/send', { brand: current?.brand.id, user_id: current?.user.id, channel }))
  } catch (error) {
    sentNote.notSent(error)
  } finally {
    button.ariaDisabled = null
  }
}

async function change(path, body) {
  if (!connected) throw new Refused('there is no connection to the demo')
  return ask(path, body)
}

function showState() {
  const words = { connecting: 'Connecting', live: 'Live', reconnecting: 'Reconnecting', refused: 'Inbox closed' }
  $('state').dataset.state = connected ? inboxState : 'down'
  $('state-text').textContent = connected ? words[inboxState] : 'Not connected'
  $('down').hidden = connected
}

function mark(as, which) {
  followed?.mark(as, which).catch(() => showToast({ title: 'The operator cannot be reached', body: 'Try again in a moment.' }))
}

function showUnread({ unread: count }) {
  if (!current) return
  const { brand } = current
  $('badge').hidden = $('inbox-count').hidden = count === 0
  $('badge').textContent = count > 99 ? '99+' : String(count)
  $('inbox-count').textContent = `${count} new`
  $('read-all').disabled = count === 0
  $('bell').setAttribute('aria-label', count === 0 ? 'Inbox, nothing unread' : `Inbox, ${count} unread`)
  document.title = count === 0 ? brand.name : `(${count}) ${brand.name}`
}

function ring() {
  $('bell').classList.remove('rings')
  requestAnimationFrame(() => $('bell').classList.add('rings'))
}

function greeting() {
  const hour = new Date().getHours()
  if (hour >= 5 && hour < 12) return 'Good morning'
  return hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening'
}
