import { element, icon, thumb } from '/elements.js'

const most = 3
const staysMs = 7_000

/** Shows a notification for some seconds; longer while it is pointed at or has the focus. */
export function showToast(notification) {
  const host = document.getElementById('toasts')
  const text = element('div')
  text.append(element('p', 'toast-title', notification.title ?? 'New notification'))
  if (notification.body) text.append(element('p', 'toast-body', notification.body))
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

  host.append(toast)
  while (host.children.length > most) host.firstElementChild.remove()
  wait()
}
