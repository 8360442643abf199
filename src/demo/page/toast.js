import { element, icon, thumb } from '/elements.js'

const staysMs = 7_000

/** Shows a notification for some seconds in place of the one before; longer while it is pointed at or has the focus. */
export function showToast(notification) {
  const { title = 'New notification', body } = notification
  const text = element('a', 'toast-text', element('p', 'toast-title', title))
  text.href = '#inbox'
  // The address names the user who is looked at.
  text.addEventListener('click', (event) => {
    event.preventDefault()
    document.getElementById('inbox').focus()
    leave()
  })
  if (body) text.append(element('p', 'toast-body', body))
  const close = element('button', 'toast-close', icon('m2.5 2.5 7 7m0-7-7 7'))
  close.type = 'button'
  close.setAttribute('aria-label', 'Close')
  const toast = element('div', 'toast', thumb(notification), text, close)
  toast.dataset.id = notification.site_notification_id

  let timer
  const leave = () => {
    toast.classList.add('leaves')
    setTimeout(() => toast.remove(), 260)
  }
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(leave, staysMs)
  }
  close.addEventListener('click', leave)
  for (const name of ['pointerenter', 'focusin']) toast.addEventListener(name, () => clearTimeout(timer))
  for (const name of ['pointerleave', 'focusout']) toast.addEventListener(name, wait)

  document.getElementById('toasts').replaceChildren(toast)
  wait()
}

/** For screen readers: what others see by themselves. */
export function announce({ title = 'New notification', body = '' }) {
  document.getElementById('toasts').replaceChildren(element('p', 'visually-hidden', `${title}. ${body}`))
}
