import { ago, element, safe, thumb } from '/elements.js'

const most = 60

/** The notifications of the selected user, newest first. The browser's local storage has the ids of the seen ones. */
export function createInboxList({ onUnseen }) {
  const list = document.getElementById('notes')
  const empty = document.getElementById('notes-empty')
  let notes = []
  let seen = new Set()
  let storageKey

  setInterval(() => {
    for (const { item, at } of notes) item.querySelector('time').textContent = ago(at)
  }, 5_000)

  return {
    open(key) {
      storageKey = `bellwire-demo-seen/${key}`
      try {
        seen = new Set(JSON.parse(localStorage.getItem(storageKey) ?? '[]'))
      } catch {
        seen = new Set()
      }
      notes = []
      list.replaceChildren()
      this.explain('')
      updateUnseen()
    },
    add(notification, live) {
      const at = Date.parse(notification.created_at)
      const item = row(notification, at)
      if (live) item.classList.add('arrives')
      notes.unshift({ id: notification.site_notification_id, item, at })
      list.prepend(item)
      for (const old of notes.splice(most)) old.item.remove()
      updateUnseen()
    },
    seeAll() {
      for (const { id } of notes) seen.add(id)
      saveSeen()
    },
    /** Whether a new notification is visible: the top of the list is in view, below the header. */
    isInView() {
      const { top } = list.getBoundingClientRect()
      const { bottom } = document.querySelector('.top').getBoundingClientRect()
      return top >= bottom && top + 60 <= innerHeight && list.scrollTop < 30
    },
    /** Sets the text for an empty list. */
    explain(text) {
      empty.textContent = text
      updateUnseen()
    },
  }

  function row(notification, at) {
    const id = notification.site_notification_id
    const text = element('span')
    text.append(element('span', 'note-title', notification.title ?? notification.body ?? 'A notification without text'))
    if (notification.title && notification.body) text.append(element('span', 'note-body', notification.body))
    const time = element('time', '', ago(at))
    time.dateTime = notification.created_at
    const button = element('button', 'note-button', thumb(notification), text, element('span', 'note-meta', time, element('span', 'note-dot')))
    button.type = 'button'
    button.addEventListener('click', () => {
      seen.add(id)
      saveSeen()
      if (safe(notification.url)) location.assign(notification.url)
    })
    const item = element('li', 'note', button)
    item.dataset.id = id
    return item
  }

  function saveSeen() {
    localStorage.setItem(storageKey, JSON.stringify([...seen].slice(-300)))
    updateUnseen()
  }

  function updateUnseen() {
    let unseen = 0
    for (const { id, item } of notes) {
      const isNew = !seen.has(id)
      item.classList.toggle('unseen', isNew)
      const dot = item.querySelector('.note-dot')
      dot.role = isNew ? 'img' : null
      dot.ariaLabel = isNew ? 'unseen' : null
      if (isNew) unseen++
    }
    empty.hidden = notes.length > 0 || empty.textContent === ''
    onUnseen(unseen)
  }
}
