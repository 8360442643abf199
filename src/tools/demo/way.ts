// The first screen of the demo: the way of the messages from platform to phone, as HTML. It is made of the console's parts.

import { phraseCount } from '../../base/runtime/phrase-count.ts'
import { badge, duration, figures, type Html, html, number, table } from '../../sides/console/html.ts'
import type { Act, Place, Stage } from './acts.ts'
import type { Entry, State } from './entry.ts'
import { serviceLabels } from './find-push.ts'
import type { DemoSide } from './servers.ts'

const mostRows = 10

export interface Scene extends Stage {
  readonly acts: readonly Act[]
}

type Lanes = Awaited<ReturnType<Stage['clients']['lanes']>>['lanes']

/** The part of the page that is composed again each second. */
export async function composeWay(scene: Scene): Promise<Html> {
  const { acts, clients, journal, servers } = scene
  const isRunning = ({ process }: DemoSide): boolean => process.state === 'running'
  const [lanes, summary] = await Promise.all([
    isRunning(servers.platform)
      ? clients.lanes().then(
          (answer) => answer.lanes,
          () => [],
        )
      : [],
    isRunning(servers.operator) ? clients.operatorSummary().catch(() => undefined) : undefined,
  ])
  const problems = acts.flatMap(({ id, says }) => (says === undefined ? [] : [html`<li data-act="${id}">${says}</li>`]))
  return html`!${verdictOf(scene)}
<ol class="stations">
!${stationOf(scene, 'platform', 'Platform', stateOf(servers.platform), platformText(scene, lanes))}
!${stationOf(scene, 'wire', 'The interface', '', html`<p>${callsText(lanes)}</p>`)}
!${stationOf(scene, 'operator', 'Operator', stateOf(servers.operator), operatorText(summary))}
!${stationOf(scene, 'services', 'Push services', '', servicesText(scene))}
</ol>
!${problems.length === 0 ? '' : html`<ul class="reasons" aria-label="Effects of the buttons">!${problems}</ul>`}
<h2>What becomes of the messages</h2>
!${numbersOf(journal)}
!${messagesOf(scene)}`
}

const isFcmAway = (acts: readonly Act[]): boolean => acts.some(({ id, says }) => id === 'fcm' && says !== undefined)

function stateOf({ process: { state, isDiskFull } }: DemoSide): Html {
  if (isDiskFull) return html`<span class="badge bad">disk full</span>`
  return state === 'running'
    ? badge(state)
    : html`<span class="badge ${state === 'starting' ? 'warn' : 'bad'}">${state}</span>`
}

function verdictOf({ servers: { operator, platform }, journal, acts }: Scene): Html {
  const problems = [
    ...(platform.process.state === 'running' ? [] : [`The platform is ${platform.process.state}`]),
    ...(operator.process.state === 'running' ? [] : [`The operator is ${operator.process.state}`]),
    ...(operator.process.isDiskFull ? ['The disk of the operator is full'] : []),
    ...(isFcmAway(acts) ? ['FCM answers 503'] : []),
  ]
  const { waiting } = journal.counts()
  const wait = waiting === 0 ? 'No message waits.' : `${phraseCount(waiting, 'message')} on the way.`
  return html`<h1 class="verdict ${problems.length === 0 ? 'good' : 'bad'}">${problems.join('. ') || 'Messages arrive'}</h1>
<p class="lead">${wait} Each message arrives once, or you see why not. Break something: no message is lost, and none rings twice.</p>`
}

function stationOf({ acts }: Scene, place: Place, title: string, state: Html, text: Html): Html {
  const buttons = acts.filter((act) => act.place === place)
  return html`<li class="station" data-place="${place}"><h2>${title} !${state}</h2>
!${text}
!${buttons.map(
    ({ id, label, says }) =>
      html`<form method="post" action="/demo/act" hx-post="/demo/act" hx-target="#live" hx-swap="innerMorph"><input type="hidden" name="act" value="${id}"><button id="act-${id}" !${says === undefined ? '' : 'class="on"'}>${label}</button></form>`,
  )}</li>`
}

function platformText({ journal }: Scene, lanes: Lanes): Html {
  const { waiting } = journal.counts()
  const held = lanes.filter(({ state }) => state === 'held')
  const [first] = held
  const why = first ? html`<p>${phraseCount(held.length, 'lane')} held for ${duration(first.held_for_ms)}.</p>` : ''
  return html`<p class="big">${number(waiting)}</p><p>${waiting === 1 ? 'message waits' : 'messages wait'}</p>!${why}`
}

function callsText(lanes: Lanes): string {
  const calls = lanes.reduce((sum, { in_flight: count }) => sum + count, 0)
  return calls === 0 ? 'HTTP. No call is running.' : `HTTP. ${phraseCount(calls, 'message')} in a call.`
}

function operatorText(summary: Awaited<ReturnType<Stage['clients']['operatorSummary']>> | undefined): Html {
  if (!summary) return html`<p class="big">–</p><p>does not answer</p>`
  return html`<p class="big">${number(summary.successful)}</p><p>delivered, ${number(summary.failed)} refused</p>`
}

function servicesText({ servers: { standIns }, acts }: Scene): Html {
  const rows = (['fcm', 'apns', 'web-push'] as const).map((name) => {
    const isAway = name === 'fcm' && isFcmAway(acts)
    const accepted = standIns[name].arrivals.filter((arrival) => arrival.accepted).length
    return html`<dt>${serviceLabels[name]}</dt><dd>!${isAway ? html`<span class="badge bad">503</span> ` : ''}${number(accepted)}</dd>`
  })
  return html`<dl class="counts">!${rows}</dl><p>pushes accepted</p>`
}

function numbersOf(journal: Scene['journal']): Html {
  const counts = journal.counts()
  const { waiting, arrived, kept, replaced, refused, failed, cancelled, unreadable } = counts
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return figures([
    ['Sent', number(all)],
    ['Arrived', number(arrived + replaced), 'good'],
    ['Wait for a phone', number(kept), kept > 0 ? 'warn' : ''],
    ['On the way', number(waiting), waiting > 0 ? 'warn' : ''],
    ['Refused', number(refused + unreadable)],
    ['Cancelled or expired', number(cancelled + failed)],
  ])
}

function messagesOf({ journal, servers }: Scene): Html {
  const listed = journal.entries.filter(({ campaign }) => !campaign).slice(-mostRows)
  const rows = listed.toReversed().map((entry) => {
    const explain =
      entry.seq === undefined
        ? ''
        : html`<a href="/demo/console?${new URLSearchParams({ side: 'platform', to: `/message?seq=${entry.seq}` }).toString()}" target="_blank">explain</a>`
    return html`<tr data-key="${entry.key}" data-outcome="${entry.state}">
<th scope="row">${entry.title}<br><span class="muted">${entry.name}, ${entry.brand_name} ${entry.user_id}</span></th>
<td>!${trackOf(entry)}</td>
<td class="wide">${phraseEntry(entry, servers)}</td>
<td>!${explain}</td></tr>`
  })
  return table('Messages', ['Message', 'Way', 'What became of it', ''], rows)
}

const marks: Readonly<Record<State, readonly [string, string, string]>> = {
  unreadable: ['bad', '', ''],
  waiting: ['good', 'warn', ''],
  refused: ['good', 'bad', ''],
  failed: ['bad', '', ''],
  cancelled: ['warn', '', ''],
  arrived: ['good', 'good', 'good'],
  kept: ['good', 'good', 'warn'],
  replaced: ['good', 'good', ''],
}

/** The three stops of a message, and which of them it has passed. */
function trackOf({ state, channel }: Entry): Html {
  const names = ['Platform', 'Operator', channel === 'push' ? 'Device' : 'Inbox']
  return html`<span class="track">!${names.map((name, i) => html`<span class="stop ${marks[state][i] ?? ''}">${name}</span>`)}</span>`
}

/** What became of a message, in plain words. */
export function phraseEntry(
  { state, channel, note, ms, ref = '' }: Entry,
  { operator, platform, wire }: Pick<Stage['servers'], 'operator' | 'platform' | 'wire'>,
): string {
  const took = ms === undefined ? '' : ` After ${duration(ms)}.`
  const again = wire.lost.has(ref)
    ? ' The first answer was lost; the platform asked again, and nothing was sent twice.'
    : ''
  switch (state) {
    case 'waiting':
      if (platform.process.state !== 'running') return 'Safe in the store of the platform, which does not run.'
      if (operator.process.state !== 'running') return 'Waits at the platform: the operator does not run.'
      if (operator.process.isDiskFull) return 'Waits at the platform: the operator cannot store it.'
      return note === undefined ? 'On its way to the operator.' : `${note.charAt(0).toUpperCase()}${note.slice(1)}.`
    case 'arrived':
      return `${channel === 'push' ? note : 'In the inbox.'}${took}${again}`
    case 'kept':
    case 'replaced':
      return `${note}${again}`
    case 'refused':
      return `Refused by the operator: ${note?.replace('not sent: ', '') ?? 'it gives no reason'}.`
    case 'cancelled':
      return 'Cancelled before it was sent.'
    case 'unreadable':
      return `Refused by the platform. ${note}. No other message was delayed.`
    default:
      return `Failed: ${note}.`
  }
}

/** The frame around it. */
export function pageOf(live: Html): Html {
  const link = (to: string, text: string, current = false): Html =>
    html`<li><a href="${to}" !${current ? 'aria-current="page"' : ''} !${to.startsWith('/demo') ? 'target="_blank"' : ''}>${text}</a></li>`
  return html`<link rel="stylesheet" href="/demo.css">
<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/"><span class="mark" aria-hidden="true"></span>Bellwire <span class="side">demo</span></a>
<nav aria-label="Pages"><ul>
!${link('/', 'The way of a message', true)}!${link('/site', 'The site')}
!${link('/demo/console?side=platform', 'Platform console')}!${link('/demo/console?side=operator', 'Operator console')}
!${link('/demo/docs?side=platform', 'Platform API')}!${link('/demo/docs?side=operator', 'Operator API')}
</ul></nav></header>
<main id="content" tabindex="-1">
<div id="live" hx-sse:connect="/demo/way" hx-swap="innerMorph">!${live}</div>
<aside aria-label="A person’s phone and inbox"><iframe src="/site#1/1001" title="A person’s phone and inbox"></iframe></aside>
</main>`
}
