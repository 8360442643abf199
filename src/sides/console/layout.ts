// The frame of every page: navigation, search, the person, help, and the notes about an act.

import type { FileName } from './files.ts'
import { type Html, hidden, html, query } from './html.ts'
import type { Page, Visit } from './page.ts'

export interface Frame {
  readonly title: string
  readonly side: string
  /** The address of /console, with the prefix of the mount. */
  readonly base: string
  readonly versions: Readonly<Record<FileName, string>>
  /** The browser opens this page of the console at once. */
  readonly refreshTo?: string | undefined
}

/** A table that the reader opened stays open. */
const htmxConfig = JSON.stringify({
  extensions: 'sse',
  history: false,
  includeIndicatorCSS: false,
  sse: { reconnectMaxDelay: 5_000 },
  morphIgnore: ['data-htmx-powered', 'open'],
})

/** A whole document. The title names no person. */
export function documentOf({ title, side, base, versions, refreshTo }: Frame, body: Html): Html {
  const file = (name: FileName): string => `${base}/files/${name}?v=${versions[name]}`
  // Without defer, htmx waits for the end of the document, and so for its extension: a live part was never connected if the extension
  // came late.
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">!${refreshTo === undefined ? '' : html`<meta http-equiv="refresh" content="0; url=${refreshTo}">`}
<meta name="htmx-config" content="${htmxConfig}">
<title>${title} · Bellwire ${side}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${file('uplot.css')}">
<link rel="stylesheet" href="${file('console.css')}">
<script src="${file('htmx.js')}"></script>
<script src="${file('hx-sse.js')}"></script>
<script src="${file('uplot.js')}" defer></script>
<script src="${file('console.js')}" defer></script>
</head>
<body data-base="${base}">
!${body}
</body>
</html>
`
}

/** The navigation around the content of a page. */
export function frameOf(visit: Visit, pages: readonly Page[], path: string, content: Html): Html {
  const shown = pages.filter(({ letter, needs }) => letter !== undefined && visit.can(needs))
  const links = shown.map(
    (page) =>
      html`<li><a href="${visit.link(page.path)}" data-letter="${page.letter}" !${page.path === path ? 'aria-current="page"' : ''}>${page.title}</a></li>`,
  )
  return html`<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${visit.link('/')}"><span class="mark" aria-hidden="true"></span>Bellwire <span class="side">${visit.side}</span></a>
!${visit.can('GET /admin/messages') ? searchOf(visit, path === '/messages' ? visit.query.find : '') : '<span></span>'}
<form class="person" method="post" action="${visit.link('/sign-out')}">
!${hidden({ csrf: visit.csrf })}
<span title="Your name in the audit trail"><bdi>${visit.key.name}</bdi></span>
<button class="plain">Sign out</button>
</form>
</header>
<nav aria-label="Pages"><ul>!${links}<li class="help"><a href="${visit.link('/help')}" data-help>Keyboard <kbd>?</kbd></a></li></ul></nav>
<main id="content" tabindex="-1">
!${content}
</main>
<dialog id="help" aria-label="Keyboard">!${helpOf(shown)}<form class="keep" method="dialog"><label class="box"><input type="checkbox" data-keys checked> Use these keys</label><button autofocus>Close</button></form></dialog>`
}

/** @param find of the page of messages: other pages have filters of this name */
function searchOf(visit: Visit, find = ''): Html {
  return html`<form class="search" role="search" action="${visit.link('/messages')}">
<label class="hidden" for="search">Find a message by identifier, activity.id or user</label>
<input id="search" name="find" type="search" value="${find}" placeholder="Identifier, activity.id or user" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
</form>`
}

/** The keys, as a table. */
export function helpOf(pages: readonly Pick<Page, 'letter' | 'title'>[]): Html {
  const rows = pages.map(
    ({ letter, title }) => html`<tr><th scope="row"><kbd>g</kbd> <kbd>${letter}</kbd></th><td>${title}</td></tr>`,
  )
  return html`<h1>Keyboard</h1>
<table class="keys"><tbody>
<tr><th scope="row"><kbd>/</kbd></th><td>Search</td></tr>
!${rows}
<tr><th scope="row"><kbd>p</kbd></th><td>Pause or continue the live part of the page</td></tr>
<tr><th scope="row"><kbd>?</kbd></th><td>This help</td></tr>
</tbody></table>`
}

/** The sign-in form. */
export function signInOf({
  base,
  side,
  problem,
  to,
  ended,
  oidc,
}: {
  readonly base: string
  readonly side: string
  readonly problem?: string | undefined
  readonly to?: string | undefined
  /** Why the person has no session any more. */
  readonly ended?: string | undefined
  /** The issuer of the OpenID provider. */
  readonly oidc?: string | undefined
}): Html {
  return html`<main class="sign-in" id="content">
<h1><span class="mark" aria-hidden="true"></span>Bellwire <span class="side">${side}</span></h1>
!${ended === undefined ? '' : html`<p class="lead" role="status">${ended === 'sign-out' ? 'You are signed out.' : 'Your session has ended: sign in again.'}</p>`}
<form method="post" action="${base}/sign-in">
<p>Sign in with a key for <code>/admin</code>. Its scopes decide what you see and what you can change.</p>
!${problem === undefined ? '' : html`<p class="note bad" role="alert">${problem}</p>`}
!${to === undefined ? '' : hidden({ to })}
<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus maxlength="512">
<button class="primary">Sign in</button>
</form>
!${oidc === undefined ? '' : html`<p class="other"><a class="button" href="${base}/sign-in/oidc${query({ to })}">Sign in with ${new URL(oidc).host}</a></p>`}
</main>`
}

/** After the sign-in at another site. */
export const signedInOf = (person: string, to: string): Html => html`<main class="sign-in" id="content">
<h1>Signed in</h1>
<p>You are signed in as <bdi>${person}</bdi>.</p>
<p class="buttons"><a class="button primary" href="${to}">Continue</a></p>
</main>`
