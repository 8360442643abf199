import { ago, element, safe, thumb } from '/elements.js'

const most = 60

/** The list of notifications of whoever is looked at, newest first, with what was seen kept in this browser. */
export function createInboxList({ onUnseen }) {
  const list = document.getElementById('notes')
  const empty = document.getElementById('notes-empty')
  let notes = []
  let seen = new Set()
  let store

  setInterval(() => {
    for (const { item, at } of notes) item.querySelector('time').textContent = ago(at)
  }, 5_000)

  return {
    open(key) {
      store = `bellwire-demo-seen/${key}`
      try {
        seen = new Set(JSON.parse(localStorage.getItem(store) ?? '[]'))
      } catch {
        seen = new Set()
      }
      notes = []
      list.replaceChildren()
      this.explain('')
      count()
    },
    add(notification, live) {
      const at = Date.parse(notification.created_at)
      const item = row(notification, at)
      if (live) item.classList.add('arrives')
      notes.unshift({ id: notification.site_notification_id, item, at })
      list.prepend(item)
      for (const old of notes.splice(most)) old.item.remove()
      count()
    },
    seeAll() {
      for (const { id } of notes) seen.add(id)
      keep()
    },
    /** Whether what is added is seen: the top of the list, below the bar on top. */
    isInView() {
      const { top } = list.getBoundingClientRect()
      const { bottom } = document.querySelector('.top').getBoundingClientRect()
      return top >= bottom && top + 60 <= innerHeight && list.scrollTop < 30
    },
    /** What is said while there is nothing to list. */
    explain(text) {
      empty.textContent = text
      count()
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
      keep()
      if (safe(notification.url)) location.assign(notification.url)
    })
    const item = element('li', 'note', button)
    item.dataset.id = id
    return item
  }

  function keep() {
    localStorage.setItem(store, JSON.stringify([...seen].slice(-300)))
    count()
  }

  function count() {
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
