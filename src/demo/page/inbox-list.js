import { ago, element, safe, thumb } from '/elements.js'

const most = 60

/** The notifications of the selected user, newest first. */
export function createInboxList({ onOpen }) {
  const list = document.getElementById('notes')
  const empty = document.getElementById('notes-empty')
  let notes = []

  setInterval(() => {
    for (const { item, at } of notes) item.querySelector('time').textContent = ago(at)
  }, 5_000)

  return {
    clear() {
      notes = []
      list.replaceChildren()
      this.explain('')
    },
    show(notification, arrival) {
      const id = notification.site_notification_id
      const at = Date.parse(notification.created_at)
      const item = row(notification, at)
      const shown = notes.find((note) => note.id === id)
      if (shown) {
        shown.item.replaceWith(item)
        shown.item = item
      } else {
        if (arrival === 'new') item.classList.add('arrives')
        notes.unshift({ id, item, at })
        list.prepend(item)
        for (const old of notes.splice(most)) old.item.remove()
      }
      empty.hidden = true
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
      empty.hidden = notes.length > 0 || text === ''
    },
  }

  function row(notification, at) {
    const id = notification.site_notification_id
    const text = element('span')
    text.append(element('span', 'note-title', notification.title ?? notification.body ?? 'A notification without text'))
    if (notification.title && notification.body) text.append(element('span', 'note-body', notification.body))
    const time = element('time', '', ago(at))
    time.dateTime = notification.created_at
    const isUnread = notification.read_at === null
    const dot = element('span', 'note-dot')
    dot.role = isUnread ? 'img' : null
    dot.ariaLabel = isUnread ? 'unread' : null
    const button = element('button', 'note-button', thumb(notification), text, element('span', 'note-meta', time, dot))
    button.type = 'button'
    button.addEventListener('click', () => {
      onOpen(notification)
      if (safe(notification.url)) location.assign(notification.url)
    })
    const item = element('li', 'note', button)
    item.dataset.id = id
    item.classList.toggle('unread', isUnread)
    return item
  }
}
