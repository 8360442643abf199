// Small helpers to build elements. Text is always set as text, so the content of a message never becomes markup.

/** `element('p', 'note-body', 'Hello')`, or with children instead of the text. */
export function element(name, className, ...content) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...content)
  return made
}

export function icon(path) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 12 12')
  svg.setAttribute('aria-hidden', 'true')
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  shape.setAttribute('d', path)
  svg.append(shape)
  return svg
}

/** The image of a notification, or a plain square in the brand's colour. */
export function thumb({ image_url: url }) {
  if (!safe(url)) return element('span', 'thumb')
  const image = element('img', 'thumb')
  image.alt = ''
  image.src = url
  image.addEventListener('error', () => image.replaceWith(element('span', 'thumb')))
  return image
}

/** A message may contain any URL. Only these schemes are allowed. */
export function safe(url) {
  if (!url) return false
  try {
    return ['http:', 'https:'].includes(new URL(url, location.href).protocol)
  } catch {
    return false
  }
}
