// The site of one of the two operators, for one of its users.

import { createInbox } from '/bellwire/inbox-element.js'
import { ask, followDemo, Refused } from '/demo.js'
import { createPhones } from '/phones.js'
import { createSentNote } from '/sent.js'
import { showToast } from '/toast.js'

// Beside the way of the messages, only the phone and the inbox are shown.
if (window.top !== window) document.documentElement.classList.add('beside')

const $ = (id) => document.getElementById(id)
const phones = createPhones({ onSwitch: (id, online) => change('/demo/phone', { id, online }) })
const sentNote = createSentNote($('send-note'))

/** The current or the last run of the demo. */
let demo
let connected = false
let people = []
let current
/** The client of the inbox that the page shows. */
let inbox

$('who').addEventListener('change', () => {
  location.hash = $('who').value
})
addEventListener('hashchange', () => {
  if (personInHash()) switchTo(personInHash())
})
$('send').addEventListener('click', () => void send($('send'), 'site'))
$('send-push').addEventListener('click', () => void send($('send-push'), 'push'))

void followDemo({
  onConnect(cast) {
    connected = true
    if (cast.run !== demo?.run) startRun(cast)
    showState()
  },
  onDisconnect() {
    connected = false
    sentNote.disconnected()
    showState()
  },
  onEntry(entry) {
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
  inbox?.stop()
  current = person
  const { brand, user, key } = person
  document.documentElement.dataset.brand = brand.id
  $('who').value = key
  $('brand-name').textContent = brand.name
  $('kicker').textContent = brand.tagline
  $('greeting').textContent = `${greeting()}, ${firstName(user)}`
  $('lead').textContent = `${brand.name} as user ${user.id} of brand ${brand.id} sees it. ${leadFor(user)}`
  $('toasts').replaceChildren()
  phones.open(brand, user)
  const client = createInbox({ url: demo.operator, getToken: () => getToken(brand.id, user.id) })
  inbox = client
  // The bell and the list share one client.
  for (const id of ['bell', 'notes']) $(id).client = client
  client.subscribe(() => client === inbox && showInbox())
  client.onArrival((notification) => {
    if (client === inbox && !isListInView()) showToast(notification)
  })
  client.start()
  showInbox()
}

function showInbox() {
  const { unread, reason } = inbox.state
  const closedHint = `The operator keeps this inbox closed, with the reason: “${reason}”.`
  $('notes').texts = { title: 'Inbox', emptyHint: 'Send an on-site notification.', ...(reason && { closedHint }) }
  document.title = unread === 0 ? current.brand.name : `(${unread}) ${current.brand.name}`
  showState()
}

/** Whether a new notification is visible: the top of the list is in view, below the header. */
function isListInView() {
  const { top } = $('notes').getBoundingClientRect()
  return top >= document.querySelector('.top').getBoundingClientRect().bottom && top + 120 <= innerHeight
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
  const words = { loading: 'Connecting', live: 'Live', offline: 'Reconnecting', closed: 'Inbox closed' }
  const status = inbox?.state.status ?? 'loading'
  $('state').dataset.state = connected ? status : 'down'
  $('state-text').textContent = connected ? words[status] : 'Not connected'
  $('down').hidden = connected
}

function greeting() {
  const hour = new Date().getHours()
  if (hour >= 5 && hour < 12) return 'Good morning'
  return hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening'
}
