const gap = 10
const margin = 8

const smallest = 200

/** Places the panel below or above the bell, at the end of the line, inside the window. On a narrow window the stylesheet places it. */
export function placePanel(panel: HTMLElement, bell: HTMLElement): void {
  const { style } = panel
  if (matchMedia('(width <= 30rem)').matches) {
    style.removeProperty('left')
    style.removeProperty('top')
    style.removeProperty('bottom')
    style.removeProperty('max-height')
    return
  }
  const anchor = bell.getBoundingClientRect()
  const width = panel.offsetWidth
  const wanted = getComputedStyle(bell).direction === 'rtl' ? anchor.left : anchor.right - width
  const left = Math.max(margin, Math.min(wanted, document.documentElement.clientWidth - width - margin))
  style.left = `${left}px`
  const above = anchor.top - gap - margin
  const below = innerHeight - anchor.bottom - gap - margin
  const opensAbove = below < smallest && above > below
  style.top = opensAbove ? 'auto' : `${anchor.bottom + gap}px`
  style.bottom = opensAbove ? `${innerHeight - anchor.top + gap}px` : 'auto'
  style.maxHeight = `${Math.max(smallest, opensAbove ? above : below)}px`
}
