import { buttons, type Html, html, type Link, sentence } from './html.ts'

/** @example ': GET /admin/lanes lists them' */
const hintForPrograms = /: GET \/admin\/\S+ [^:]*$/

/**
 * The content of an error page.
 *
 * @param status of HTTP
 * @param ways the links with which the person goes on
 */
export function errorContent(
  status: number,
  message: string,
  ways: readonly Link[],
): { readonly title: string; readonly content: Html } {
  const title = status === 404 ? 'Not found' : status === 403 ? 'Not allowed' : 'This did not work'
  const content = html`<h1>${title}</h1><p class="note bad" role="alert" tabindex="-1" autofocus>${sentence(message.replace(hintForPrograms, ''))}</p>
!${buttons(ways)}`
  return { title, content }
}
