// The site of one of the two operators, as one of its users sees it.

import { followInbox } from '/inbox-client.js'
import { showJournal } from '/journal.js'
import { createInboxList } from '/inbox-list.js'
import { createPhones } from '/phones.js'
import { showToast } from '/toast.js'

const $ = (id) => document.getElementById(id)
const { brands, operator } = await (await fetch('/demo/cast')).json()
const people = brands.flatMap((brand) => brand.users.map((user) => ({ brand, user, key: `${brand.id}/${user.id}` })))

const inbox = createInboxList({ onUnseen: showUnseen })
const phones = createPhones({ onSwitch: (id, online) => post('/demo/phone', { id, online }) })
let current
let leave = () => {}

for (const brand of brands) {
  const group = document.createElement('optgroup')
  group.label = `${brand.name}, brand ${brand.id}`
  for (const user of brand.users) group.append(new Option(`${user.id} ${user.name}`, `${brand.id}/${user.id}`))
  $('who').append(group)
}
$('who').addEventListener('change', () => {
  location.hash = $('who').value
})
addEventListener('hashchange', () => {
  if (person()) become(person())
})
$('send').addEventListener('click', () => sendOne($('send'), 'site'))
$('send-push').addEventListener('click', () => sendOne($('send-push'), 'push'))
$('seen-all').addEventListener('click', inbox.seeAll)
const events = new EventSource('/demo/events')
showJournal(events)
phones.follow(events)
become(person() ?? people[0])

function person() {
  return people.find(({ key }) => `#${key}` === location.hash)
}

function become(someone) {
  leave()
  current = someone
  const { brand, user, key } = someone
  document.documentElement.dataset.brand = brand.id
  $('who').value = key
  $('brand-name').textContent = brand.name
  $('kicker').textContent = brand.tagline
  $('greeting').textContent = `${greeting()}, ${user.name.split(' ')[0]}`
  $('lead').textContent =
    `${brand.name} as user ${user.id} of brand ${brand.id} sees it. The inbox fills and the phone rings by themselves.`
  $('send-note').textContent = ''
  $('toasts').replaceChildren()
  inbox.open(key)
  phones.open(brand, user)
  leave = followInbox({
    url: operator,
    getToken: () => getToken(brand.id, user.id),
    onNotification(notification, live) {
      inbox.add(notification, live)
      if (live) {
        showToast(notification)
        ring()
      }
    },
    onState: showState,
  })
}

// In life this is the operator's backend, which knows who is signed in.
async function getToken(brand, user) {
  const response = await post('/demo/token', { brand, user_id: user })
  return response.token
}

async function sendOne(button, channel) {
  const { brand, user } = current
  if (button.ariaDisabled === 'true') return
  // Not disabled: it would lose the focus.
  button.ariaDisabled = 'true'
  try {
    await post('/demo/send', { brand: brand.id, user_id: user.id, channel })
    $('send-note').textContent = 'On its way through the platform.'
  } catch (error) {
    $('send-note').textContent = `It could not be sent: ${error.message}`
  } finally {
    button.ariaDisabled = null
  }
}

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

function showState(state, error) {
  const words = { connecting: 'Connecting', live: 'Live', reconnecting: 'Reconnecting', refused: 'Not shown' }
  $('state').dataset.state = state
  $('state-text').textContent = words[state]
  if (state === 'live') inbox.explain('Nothing here yet. Press “Send me one”.')
  if (state === 'refused') inbox.explain(`The operator keeps this inbox closed. It says: “${error}”.`)
}

function showUnseen(count) {
  const { brand } = current
  $('badge').hidden = $('inbox-count').hidden = count === 0
  $('badge').textContent = count > 99 ? '99+' : String(count)
  $('inbox-count').textContent = `${count} new`
  $('seen-all').disabled = count === 0
  $('bell').setAttribute('aria-label', count === 0 ? 'Inbox, nothing unseen' : `Inbox, ${count} unseen`)
  document.title = count === 0 ? brand.name : `(${count}) ${brand.name}`
}

function ring() {
  $('bell').classList.remove('rings')
  requestAnimationFrame(() => $('bell').classList.add('rings'))
}

function greeting() {
  const hour = new Date().getHours()
  if (hour < 5) return 'Good night'
  if (hour < 12) return 'Good morning'
  return hour < 18 ? 'Good afternoon' : 'Good evening'
}
