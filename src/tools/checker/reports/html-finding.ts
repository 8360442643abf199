// A violated rule in the HTML report: what was seen, its effect and remedy, and the recorded requests.

import type { ReportedExchange } from '../report-schema.ts'
import { escaped } from './html-text.ts'
import { type Grouped, referenceOf } from './phrases.ts'

export function finding({ first, results }: Grouped, tone: string): string {
  const seen = results.map(
    ({ target, seen = '' }) => `<p><span class="chip idle">${escaped(target)}</span> ${escaped(seen)}</p>`,
  )
  const evidence = results.map(({ target, exchanges }) => {
    const shown = exchanges.map((exchange) => exchangePart(exchange))
    return `<details><summary>Requests and answers: ${escaped(target)}</summary>${shown.join('')}</details>`
  })
  return `<article class="finding ${tone}" id="${escaped(first.check)}">
<header><h3>${escaped(first.title)}</h3><code>${escaped(first.check)}</code><span class="chip ${tone}">${escaped(referenceOf(first))}</span></header>
<dl><dt>Seen</dt><dd>${seen.join('')}</dd>
<dt>Effect</dt><dd>${escaped(first.consequence)}</dd>
<dt>Remedy</dt><dd>${escaped(first.remedy)}</dd></dl>
${evidence.join('')}
</article>`
}

function exchangePart({ label, decisive, request, answer, lost, ms, curl }: ReportedExchange): string {
  const sent = [
    `${request.method} ${new URL(request.url).pathname}`,
    ...headerLines(request.headers),
    ...(request.body === '' ? [] : ['', request.body]),
  ]
  const received = answer
    ? [`${answer.status}`, ...headerLines(answer.headers), '', answer.body]
    : [lost ?? 'no answer']
  const mark = decisive ? ' <span class="chip bad">decisive</span>' : ''
  const note = request.note === undefined ? '' : `<p class="caption">${escaped(request.note)}</p>`
  const repeat =
    curl === undefined ? '' : `\n<p class="caption">Repeat it, with the key in $API_KEY</p><pre>${escaped(curl)}</pre>`
  return `<div class="exchange"><h4>${escaped(label)}${mark} <span class="soft">${ms} ms</span></h4>
<div class="sides"><div><p class="caption">Request</p><pre>${escaped(sent.join('\n'))}</pre></div>
<div><p class="caption">Answer</p><pre>${escaped(received.join('\n'))}</pre></div></div>${note}${repeat}</div>`
}

const headerLines = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
