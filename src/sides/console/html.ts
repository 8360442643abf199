// What every page shows in the same way: numbers, times, links and forms. `html` escapes each value; `!${…}` inserts HTML unescaped,
// so only the results of `html` and of these functions may follow it.

import { html as escapeValues } from 'ghtml'
import { phraseDuration } from '../../base/runtime/phrase-duration.ts'

/** Text that `html` has escaped. */
export type Html = string

/** Escapes each value, and shows control characters and changes of the writing direction as symbols. */
export const html = (literals: TemplateStringsArray, ...values: unknown[]): Html =>
  escapeValues(literals, ...values.map((value) => (typeof value === 'string' ? visible(value) : value)))

/** @example visible('a\0b') // 'a␀b' */
function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => {
      const code = character.charCodeAt(0)
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd'
    },
  )
}

/** @example number(1234567) // '1,234,567' */
export const number = (value: number): string => value.toLocaleString('en')

/** A name at the beginning stays as it is. @example sentence('there is no such page') // 'There is no such page.' */
export const sentence = (text: string): string =>
  text.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase()).replace(/[^.?!]$/, '$&.')

/** @example '2 min 50 s' */
export const duration = phraseDuration

/** A moment in UTC. The page's script adds the time in the reader's zone. */
export function moment(at: number | string): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`
}

const tones: Readonly<Record<string, string>> = {
  running: 'good',
  successful: 'good',
  delivered: 'good',
  held: 'bad',
  failed: 'bad',
  pending: 'bad',
  fatal: 'warn',
  waiting: 'quiet',
  in_flight: 'quiet',
  paused: 'warn',
  'paused in part': 'warn',
  consuming: 'good',
  connecting: 'warn',
  done: 'good',
  refused: 'bad',
  no_source: 'bad',
  critical: 'bad',
  high: 'warn',
}

/** A state as a badge: its word says the same as its colour. */
export const badge = (state: string): Html =>
  html`<span class="badge ${tones[state] ?? 'quiet'}">${state.replaceAll('_', ' ')}</span>`

/** @example query({ lane: '1/push', state: undefined }) // '?lane=1%2Fpush' */
export function query(members: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text && `?${text}`
}

/** An empty list says what would be in it. */
export const empty = (text: string): Html => html`<p class="empty">${text}</p>`

/** A figure with its name. `to` is the address of the page that lists what it counts. */
export type Figure = readonly [name: string, value: string, tone?: string, to?: string | undefined]

export const figures = (all: readonly Figure[]): Html =>
  html`<dl class="figures">!${all.map(([name, value, tone = '', to]) => html`<div class="${tone}"><dt>${name}</dt><dd>!${to === undefined ? html`${value}` : html`<a href="${to}">${value}</a>`}</dd></div>`)}</dl>`

/** A table that scrolls by itself, also with the keyboard. @param columns names; those that begin with `#` are numbers; an empty one is of boxes or links */
export const table = (label: string, columns: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>!${columns.map((name) =>
    name.startsWith('#')
      ? html`<th scope="col" class="number">${name.slice(1)}</th>`
      : name === ''
        ? '<td></td>'
        : html`<th scope="col">${name}</th>`,
  )}</tr></thead><tbody>!${rows}</tbody></table></div>`

/** Names with values of any kind. @param all values are HTML */
export const facts = (all: readonly (readonly [name: string, value: Html])[]): Html =>
  html`<dl class="facts">!${all.map(([name, value]) => html`<dt>${name}</dt><dd>!${value}</dd>`)}</dl>`

/** Links that look like buttons. */
export const buttons = (links: readonly Link[]): Html =>
  links.length === 0
    ? ''
    : html`<p class="buttons">!${links.map(([to, says]) => html`<a class="button" href="${to}">${says}</a>`)}</p>`

export type Link = readonly [to: string, says: string]

export const crumb = (link: string, name: string): Html => html`<p class="crumb"><a href="${link}">← ${name}</a></p>`

/** A choice. @param options pairs of a value and what it says */
export const select = (
  label: string,
  name: string,
  options: readonly (readonly [value: string, says: string])[],
  chosen = '',
): Html =>
  html`<label>${label}<select name="${name}">!${options.map(([value, says]) => html`<option value="${value}" !${value === chosen ? 'selected' : ''}>${says}</option>`)}</select></label>`

/** Fields that the reader does not see. */
export const hidden = (fields: Readonly<Record<string, string>>): Html =>
  html`!${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`

/** A form whose fields are the filter in the address of the page. @param other the link beside its button */
export const filterForm = (
  address: string,
  fields: readonly Html[],
  says = 'Filter',
  [to, otherSays]: Link = [address, 'Clear'],
): Html =>
  html`<form class="filter" action="${address}">
!${fields}
<button class="primary">${says}</button><a class="button" href="${to}">${otherSays}</a></form>`

export const input = (label: string, name: string, value = '', attributes: Html = ''): Html =>
  html`<label>${label}<input name="${name}" value="${value}" !${attributes}></label>`
