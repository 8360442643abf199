import { element, icon, thumb } from '/elements.js'

const durationMs = 7_000

/** Shows a notification for 7 seconds, in place of the previous one. It stays while it has the pointer or the focus. */
export function showToast(notification) {
  const { title = 'New notification', body } = notification
  const text = element('a', 'toast-text', element('p', 'toast-title', title))
  text.href = '#inbox'
  // The URL's hash identifies the selected user, so it must not change.
  text.addEventListener('click', (event) => {
    event.preventDefault()
    document.getElementById('inbox').focus()
    hide()
  })
  if (body) text.append(element('p', 'toast-body', body))
  const close = element('button', 'toast-close', icon('m2.5 2.5 7 7m0-7-7 7'))
  close.type = 'button'
  close.setAttribute('aria-label', 'Close')
  const toast = element('div', 'card toast', thumb(notification), text, close)
  toast.dataset.id = notification.site_notification_id

  let timer
  const hide = () => toast.remove()
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(hide, durationMs)
  }
  close.addEventListener('click', hide)
  for (const name of ['pointerenter', 'focusin']) toast.addEventListener(name, () => clearTimeout(timer))
  for (const name of ['pointerleave', 'focusout']) toast.addEventListener(name, wait)

  document.getElementById('toasts').replaceChildren(toast)
  wait()
}
