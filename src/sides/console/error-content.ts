import { buttons, type Html, html, type Link, sentence } from './html.ts'

/** @example ': GET /admin/lanes lists them' */
const hintForPrograms = /: GET \/admin\/\S+ [^:]*$/

export const refusalOf = (message: string): Html =>
  html`<p class="note bad" role="alert" tabindex="-1" autofocus>${sentence(message.replace(hintForPrograms, ''))}</p>`

/**
 * The content of an error page.
 *
 * @param status of HTTP
 * @param ways the links with which the person goes on
 * @param reason that the person typed for the refused act
 */
export function errorContent(
  status: number,
  message: string,
  ways: readonly Link[],
  reason?: string,
): { readonly title: string; readonly content: Html } {
  const title = status === 404 ? 'Not found' : status === 403 ? 'Not allowed' : 'This did not work'
  const typed = reason === undefined ? '' : html`<p>Your reason was: ${reason}</p>`
  const content = html`<h1>${title}</h1>!${refusalOf(message)}!${typed}
!${buttons(ways)}`
  return { title, content }
}
