// The console works without this script. It adds the keyboard, the reader's time zone and the curves.

const base = document.body.dataset.base

// Keyboard. Speech is typed as single keys, so a reader can switch them off.
const keysBox = document.querySelector('#help [data-keys]')
if (keysBox) keysBox.checked = localStorage.getItem('bellwire-keys') !== 'off'
keysBox?.addEventListener('change', () => localStorage.setItem('bellwire-keys', keysBox.checked ? 'on' : 'off'))

let afterG = false
document.addEventListener('keydown', (event) => {
  if (!keysBox?.checked || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  const { key } = event
  if (afterG) {
    afterG = false
    document.querySelector(`nav a[data-letter="${CSS.escape(key)}"]`)?.click()
    return
  }
  const search = document.getElementById('search')
  if (key === 'g') afterG = true
  else if (key === 'p') document.querySelector('[data-pause]')?.click()
  else if (key === '?') document.getElementById('help')?.showModal()
  else if (key === '/' && search) {
    event.preventDefault()
    search.focus()
    search.select()
  }
})

const isTyping = (target) => target.closest?.('input:not([type=checkbox]), textarea, select, dialog[open]') != null

document.addEventListener('click', (event) => {
  const help = event.target.closest?.('[data-help]')
  if (!help) return
  event.preventDefault()
  document.getElementById('help').showModal()
})

// "Select all" of a list.
document.addEventListener('change', (event) => {
  if (!event.target.matches?.('[data-all]')) return
  for (const box of event.target.form.querySelectorAll('input[type=checkbox][name=seq]')) box.checked = event.target.checked
})

// A second click would do the act twice.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (form.method !== 'post') return
  if (form.hasAttribute('data-sent')) event.preventDefault()
  form.setAttribute('data-sent', '')
})
// The browser may show a page again as the reader left it.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) form.removeAttribute('data-sent')
})

// The effect of an act is told once: a saved or shared address does not contain it.
const address = new URL(location)
if (address.searchParams.has('did')) {
  for (const name of ['did', 'count']) address.searchParams.delete(name)
  history.replaceState(null, '', address)
}

// On a narrow screen, the navigation scrolls.
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })

// The live part without a connection is old.
function showConnection(isLost) {
  const live = document.getElementById('live')
  const says = document.querySelector('[data-pause]')
  if (!live || !says || live.hasAttribute('data-lost') === isLost) return
  live.toggleAttribute('data-lost', isLost)
  says.dataset.says ??= says.textContent
  says.textContent = isLost ? 'No connection: trying again' : says.dataset.says
}
document.addEventListener('htmx:sse:error', () => showConnection(true))
document.addEventListener('htmx:sse:after:connection', expectMessage)
document.addEventListener('htmx:sse:before:message', (event) => {
  showConnection(false)
  expectMessage(event)
})

// A connection may be lost without an error, as by a tunnel that hangs. The server sends a message at least every 15 s.
let silence
function expectMessage({ detail: { connection } }) {
  clearTimeout(silence)
  silence = setTimeout(() => {
    showConnection(true)
    connection.reader?.cancel()
  }, 40_000)
}

// The extension repeats a connection that was there before, but not the first one.
document.addEventListener('htmx:error', ({ target: live }) => {
  const address = live.getAttribute?.('hx-sse:connect')
  if (!address || live._htmx?.sse) return
  showConnection(true)
  setTimeout(() => htmx.ajax('GET', address, { source: live }), 2_000)
})

// The session has ended: the page itself leads to the sign-in.
document.addEventListener('ended', () => location.reload())

// Times in the reader's zone, with UTC beside.
const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const hourAndMinute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const isUtc = new Date().getTimezoneOffset() === 0

function showLocalTimes() {
  if (isUtc) return
  for (const time of document.querySelectorAll('time')) {
    const utc = `${time.dateTime.slice(11, 19)} UTC`
    const text = `${local.format(new Date(time.dateTime))} (${utc})`
    if (time.textContent !== text) time.textContent = text
  }
}

// Curves.
const plots = new Map()

/** A canvas knows no variables, and no light-dark(). */
function colorOf(name, opacity = '100%') {
  const probe = document.createElement('i')
  probe.style.color = `var(${name})`
  probe.style.forcedColorAdjust = 'none'
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return `rgb(from ${color} r g b / ${opacity})`
}

function drawCurves() {
  for (const figure of document.querySelectorAll('figure.curve')) {
    const box = figure.querySelector('.plot')
    const { curve, names } = figure.dataset
    const known = plots.get(box.id)
    if (known && known.box === box && box.firstChild) {
      if (known.curve !== curve) known.plot.setData(JSON.parse(curve))
      known.curve = curve
      continue
    }
    const data = JSON.parse(curve)
    if (data[0].length < 2) continue
    box.replaceChildren()
    const plot = new uPlot(optionsOf(box, names.split(' ')), data, box)
    plots.set(box.id, { box, plot, curve })
  }
}

/** In the legend: the point below the pointer, or the newest one. */
const shown = (say) => (plot, value, series) => {
  const of = value ?? plot.data?.[series]?.at(-1)
  return of == null ? '–' : say(of)
}

function optionsOf(box, names) {
  const axis = { stroke: colorOf('--muted'), grid: { stroke: colorOf('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' }
  const colors = ['--good', '--bad', '--warn']
  const clockOf = (seconds) => hourAndMinute.format(new Date(seconds * 1000))
  return {
    width: box.clientWidth,
    height: 150,
    legend: { live: true },
    cursor: { points: { size: 6 } },
    axes: [{ ...axis, size: 28, space: 60, incrs: [60, 300, 600, 1800, 3600, 10800, 21600], values: (_plot, splits) => splits.map(clockOf) }, { ...axis, size: 46, space: 34 }],
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] } },
    series: [
      { label: 'until', value: shown((seconds) => clockOf(seconds)) },
      ...names.map((label, i) => ({
        label,
        stroke: colorOf(colors[i]),
        width: 1.5,
        points: { show: false },
        value: shown((count) => count.toLocaleString('en')),
        ...(i === 0 && { fill: colorOf(colors[i], '14%') }),
      })),
    ],
  }
}

function redraw() {
  for (const { plot } of plots.values()) plot.destroy()
  plots.clear()
  drawCurves()
}
let resizing
addEventListener('resize', () => {
  cancelAnimationFrame(resizing)
  resizing = requestAnimationFrame(redraw)
})
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)

function show() {
  showLocalTimes()
  drawCurves()
}
new MutationObserver(show).observe(document.getElementById('content'), { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['datetime', 'data-curve'] })
show()
