// A browser without JavaScript: it keeps the cookie, follows redirects and sends forms as a browser does.

import assert from 'node:assert/strict'

export interface Looked {
  readonly status: number
  readonly path: string
  readonly headers: Headers
  readonly html: string
  /** The text without tags. */
  readonly text: string
}

export interface Visitor {
  cookie: string
  look(path: string, headers?: Readonly<Record<string, string>>): Promise<Looked>
  /** Sends a form of the console. `csrf` is that of the latest page. */
  send(
    path: string,
    fields?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Looked>
}

/** @param url of a side */
export function visitor(url: string): Visitor {
  let csrf = ''
  const self: Visitor = {
    cookie: '',
    look: (path, headers = {}) => follow(path, { headers }),
    send: (path, fields = {}, headers = {}) =>
      follow(path, {
        method: 'POST',
        headers: {
          origin: url,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        body: new URLSearchParams({ csrf, ...fields }).toString(),
      }),
  }
  return self

  async function follow(path: string, init: RequestInit): Promise<Looked> {
    const response = await fetch(`${url}${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), ...(self.cookie && { cookie: self.cookie }) },
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    })
    const [set] = response.headers.getSetCookie()
    if (set !== undefined) self.cookie = set.includes('Max-Age=0') ? '' : (set.split(';')[0] as string)
    const to = response.headers.get('location')
    if (response.status === 303 && to !== null) {
      await response.arrayBuffer()
      return follow(to, {})
    }
    const html = await response.text()
    csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? csrf
    const text = html
      .replace(/<[^>]*>/g, ' ')
      .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      .replace(/\s+/g, ' ')
    return { status: response.status, path, headers: response.headers, html, text }
  }
}

/** Signs in. @returns a visitor with a session */
export async function signedIn(url: string, key: string): Promise<Visitor> {
  const browser = visitor(url)
  const shown = await browser.send('/console/sign-in', { key })
  assert.equal(shown.status, 200, shown.text)
  assert.notEqual(browser.cookie, '')
  return browser
}
