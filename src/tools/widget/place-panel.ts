const gap = 10
const margin = 8

/** Places the panel below the bell, at the end of the line, inside the window. On a narrow window the stylesheet places it. */
export function placePanel(panel: HTMLElement, bell: HTMLElement): void {
  const { style } = panel
  if (matchMedia('(width <= 30rem)').matches) {
    style.removeProperty('left')
    style.removeProperty('top')
    style.removeProperty('max-height')
    return
  }
  const anchor = bell.getBoundingClientRect()
  const width = panel.offsetWidth
  const wanted = getComputedStyle(bell).direction === 'rtl' ? anchor.left : anchor.right - width
  const left = Math.max(margin, Math.min(wanted, document.documentElement.clientWidth - width - margin))
  style.left = `${left}px`
  style.top = `${anchor.bottom + gap}px`
  style.maxHeight = `${Math.max(200, innerHeight - anchor.bottom - gap - margin)}px`
}
