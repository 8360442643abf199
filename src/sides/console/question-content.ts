import { type Html, hidden, html } from './html.ts'
import type { Act, Question, Visit } from './page.ts'

/**
 * The content of the page that asks before an act.
 *
 * @param refusal of the same act, above the question
 */
export function questionContent(
  act: Act,
  visit: Visit,
  { before = '', effect, fields = '', none, back }: Question,
  refusal: Html = '',
): Html {
  return html`<h1>${act.title}</h1>
!${refusal}!${before}
<form class="ask" method="post" action="${visit.link(act.path, visit.query)}">
!${hidden({ ...visit.query, csrf: visit.csrf })}
!${none ? html`<p>${none}</p>` : html`<p>!${effect}</p>!${fields}`}
<p class="buttons">!${none ? '' : html`<button class="primary !${act.isFinal ? 'final' : ''}">${act.title}</button>`}<a class="button" href="${back}">Back</a></p>
</form>`
}
