// The console of a side: pages for people, at /console on the address of /admin. pages.ts lists them.

import helmet from '@fastify/helmet'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessKey } from '../../base/http/access.ts'
import { addressOf, isProxied } from '../../base/http/address.ts'
import type { Authentication } from '../../base/http/authentication.ts'
import { HttpError, type Side } from '../../base/http/http.ts'
import { emit } from '../../base/runtime/events.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { apiKeyHeader } from '../../contract/endpoints.ts'
import type { ConsoleSignIn } from '../../subjects/settings/console.ts'
import { reasonMemberOf } from '../admin/requests.ts'
import type { AdminRoute } from '../admin/route.ts'
import { createRouteCaller } from './call-route.ts'
import { readCookie, setCookie } from './cookie.ts'
import { errorContent, refusalOf } from './error-content.ts'
import { createFiles } from './files.ts'
import { type Html, html, type Link, query as queryOf } from './html.ts'
import { documentOf, frameOf, helpOf, signedInOf, signInOf } from './layout.ts'
import { createLivePages, endedEvent, eventStream } from './live.ts'
import { createOidc, type Oidc, type OidcAttempt } from './oidc.ts'
import { demandSameOrigin, originOf } from './origin.ts'
import { createOtherSide } from './other-side.ts'
import type { Act, AnyRouteName, Done, Fields, Page, Visit } from './page.ts'
import { acts, pages, sectionOf } from './pages.ts'
import type { People } from './people.ts'
import { questionContent } from './question-content.ts'
import { createSessions, type Identity, type Session } from './session.ts'
import { createWatch } from './watch.ts'

export interface ConsoleOptions {
  readonly side: Side
  /** The keys for /admin. */
  readonly keys: readonly AccessKey[]
  /** Authenticates the callers of /admin: the console counts wrong keys together with it. */
  readonly authentication: Authentication<AccessKey>
  /** The people who sign in without a key. */
  readonly people: People
  /** Absent: people sign in with keys only. */
  readonly signIn?: ConsoleSignIn | undefined
  /** A secret that all processes of this side have. */
  readonly readSecret: () => Promise<string>
  /** The routes of /admin on this side. */
  readonly routes: readonly AdminRoute[]
}

const self = ["'self'"]
const none = ["'none'"]
const security = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: none,
      scriptSrc: self,
      styleSrc: self,
      imgSrc: ["'self'", 'data:'],
      connectSrc: self,
      formAction: self,
      frameAncestors: none,
      baseUri: none,
    },
  },
  // Browsers would send `Origin: null` with each form.
  referrerPolicy: { policy: 'same-origin' },
  frameguard: { action: 'deny' },
  // The name of this server may have other services without TLS.
  strictTransportSecurity: false,
} as const

const formBytes = 64 * 1024
/** A person signs in at the provider within this time. */
const attemptSeconds = 600
/** Bodies without a session have a small share of the memory. */
const signInBody = { name: 'console sign-in', timeoutMs: 10_000 }

/** Registers the pages. @param app serves /admin */
export async function serveConsole(app: FastifyInstance, options: ConsoleOptions): Promise<void> {
  const { side, keys, authentication, routes, people, signIn: further, readSecret } = options
  const files = createFiles()
  const sessions = createSessions([...keys, ...(further?.people ?? [])], readSecret)
  const oidc = further?.oidc && createOidc(further.oidc)
  const callOther = further?.otherSide && createOtherSide(further.otherSide)
  const cookieName = `bellwire-${side}`
  const byName = new Map<string, AdminRoute>(routes.map((route) => [`${route.method} ${route.url}`, route]))
  const callAs = createRouteCaller(app, (name) => byName.get(name)?.act !== null)
  const live = createLivePages()
  const watch = createWatch(side)
  const opened = new WeakMap<FastifyRequest, { readonly key: string; readonly csrf: string }>()

  app.addHook('preClose', async () => live.stop())
  app.addHook('onClose', async () => watch.stop())
  await app.register(async (server) => {
    await server.register(helmet, security)
    server.addHook('onSend', async (_request, reply) => {
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    })
    server.setErrorHandler(showError)
    files.serve(server)
    server.get('/console/sign-in', async (request, reply) => signInPage(request, reply))
    server.post(
      '/console/sign-in',
      { onRequest: async (request) => demandSameOrigin(request), bodyLimit: 4 * 1024, config: { bodies: signInBody } },
      signIn,
    )
    if (oidc) serveOidc(server, oidc)
    const person = { onRequest: authenticate }
    const changing = {
      onRequest: [async (request: FastifyRequest) => demandSameOrigin(request), authenticate],
      bodyLimit: formBytes,
    }
    server.post('/console/sign-out', changing, signOut)
    server.get('/console/help', person, async (request, reply) =>
      send(request, reply, { title: 'Keyboard', path: '/help', content: helpOf(pages.filter(({ letter }) => letter)) }),
    )
    for (const page of pages)
      server.get(page.path === '/' ? '/console' : `/console${page.path}`, person, (request, reply) =>
        showPage(page, request, reply),
      )
    for (const act of acts) {
      server.get(`/console${act.path}`, person, (request, reply) => askFor(act, request, reply))
      server.post(`/console${act.path}`, changing, (request, reply) => carryOut(act, request, reply))
    }
    server.get('/console/*', person, async () => {
      throw new HttpError(404, 'there is no such page')
    })
  })

  /** The address of /console, with the prefix under which the side is mounted. */
  function baseOf({ originalUrl, url }: FastifyRequest): string {
    const prefix = originalUrl.endsWith(url) ? originalUrl.slice(0, -url.length) : ''
    return `${/^(\/[\w.~-]+)*$/.test(prefix) ? prefix : ''}/console`
  }

  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const session = await openSession(request, reply)
    if (session) {
      opened.set(request, session)
      return
    }
    if (isOfLivePart(request)) throw sessionEnded()
    const base = baseOf(request)
    const to = request.method === 'GET' ? request.originalUrl.slice(base.length) : ''
    const ended = readCookie(request, cookieName) === undefined ? undefined : 'session'
    reply.redirect(`${base}/sign-in${queryOf({ to: to === '/' ? undefined : to, ended })}`, 303)
  }

  /** @returns undefined without a session, or if the session has ended */
  async function openSession(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ readonly key: string; readonly csrf: string } | undefined> {
    const session = await sessions.read(readCookie(request, cookieName))
    const key = session && keyOf(request, session)
    if (!session || key === undefined) return undefined
    try {
      request.headers[apiKeyHeader] = key
      await authentication.onRequest(request, reply)
      return { key, csrf: session.csrf }
    } catch (error) {
      if (!(error instanceof HttpError) || error.status >= 500) throw error
      return undefined
    }
  }

  /** The key with which the session calls /admin. Undefined: the key or the person is no longer known, or the proxy names another. */
  function keyOf(request: FastifyRequest, session: Session): string | undefined {
    if (session.by === 'key') return session.key
    if (session.by === 'proxy' && namedByProxy(request) !== session.person) return undefined
    return people.keyOf(session.person)
  }

  /** The person that a trusted proxy names. Nobody else may send the header. */
  function namedByProxy({ raw, headers }: FastifyRequest): string | undefined {
    const name = further?.proxyHeader === undefined ? undefined : headers[further.proxyHeader]
    return typeof name === 'string' && name !== '' && isProxied(raw.socket) ? name : undefined
  }

  function serveOidc(server: FastifyInstance, provider: Oidc): void {
    const name = `${cookieName}-oidc`
    const pathOf = (request: FastifyRequest): string => `${baseOf(request)}/sign-in`
    const addressOfReturn = (request: FastifyRequest): string => `${originOf(request)}${pathOf(request)}/done`
    server.get('/console/sign-in/oidc', async (request, reply) => {
      const { to = '' } = fieldsOf(request.query)
      const { address, attempt } = await provider.begin(addressOfReturn(request), to)
      // The browser comes back from another site: a strict cookie would not be sent.
      const value = await sessions.seal(attempt, attemptSeconds)
      setCookie(request, reply, { name, path: pathOf(request), value, sameSite: 'Lax' })
      return reply.redirect(address, 303)
    })
    server.get('/console/sign-in/done', async (request, reply) => {
      const attempt = await sessions.open<OidcAttempt>(readCookie(request, name), ['state', 'nonce', 'verifier'])
      if (!attempt) throw new HttpError(403, 'the sign-in took too long, or began in another browser: begin it again')
      const search = new URL(request.url, 'http://localhost').search
      const person = await provider.finish(new URL(addressOfReturn(request) + search), attempt)
      if (people.keyOf(person) === undefined) throw new HttpError(403, unknownPerson(person))
      setCookie(request, reply, { name, path: pathOf(request), value: undefined })
      await begin(request, reply, { by: 'oidc', person })
      const to = addressAfter(request, attempt.to)
      // A redirect would still count as coming from another site, without the strict cookie.
      return sendDocument(request, reply, 'Signed in', signedInOf(person, to), to)
    })
  }

  async function begin(request: FastifyRequest, reply: FastifyReply, identity: Identity): Promise<void> {
    setCookie(request, reply, { name: cookieName, path: baseOf(request), value: await sessions.begin(identity) })
  }

  /** Only pages of the console. */
  const addressAfter = (request: FastifyRequest, to: string): string =>
    `${baseOf(request)}${/^\/(?![/\\])[!-~]+$/.test(to) ? to : ''}`

  async function signInPage(request: FastifyRequest, reply: FastifyReply, problem?: string): Promise<FastifyReply> {
    const base = baseOf(request)
    const { to, ended } = fieldsOf(request.method === 'GET' ? request.query : request.body)
    const named = namedByProxy(request)
    if (named !== undefined && people.keyOf(named) !== undefined && problem === undefined) {
      await begin(request, reply, { by: 'proxy', person: named })
      return reply.redirect(addressAfter(request, to ?? ''), 303)
    }
    const none =
      named !== undefined
        ? unknownPerson(named)
        : keys.length === 0 && !oidc
          ? 'No key for /admin is configured: add one in the configuration.'
          : undefined
    const form = signInOf({ base, side, problem: problem ?? none, to, ended, oidc: oidc && further?.oidc?.issuer })
    return sendDocument(request, reply, 'Sign in', form)
  }

  async function signIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { key = '', to = '' } = fieldsOf(request.body)
    request.headers[apiKeyHeader] = key
    try {
      await authentication.onRequest(request, reply)
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      const says = error.status === 401 ? 'This is not a key for /admin of this side.' : error.message
      return signInPage(request, reply.code(error.status), says)
    }
    await begin(request, reply, { by: 'key', key })
    return reply.redirect(addressAfter(request, to), 303)
  }

  async function signOut(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    formOf(request)
    sessions.end(readCookie(request, cookieName))
    const base = baseOf(request)
    setCookie(request, reply, { name: cookieName, path: base, value: undefined })
    return reply.redirect(`${base}/sign-in?ended=sign-out`, 303)
  }

  function visitOf(request: FastifyRequest): Visit {
    const key = authentication.callerOf(request)
    const { csrf, key: secret } = opened.get(request) as { readonly key: string; readonly csrf: string }
    const base = baseOf(request)
    return {
      side,
      key,
      csrf,
      watch,
      query: fieldsOf(request.query as object),
      can: (name: AnyRouteName) => {
        const route = byName.get(name)
        return route !== undefined && key.scopes.includes(route.scope)
      },
      reasonMember: (name: AnyRouteName) => reasonMemberOf(byName.get(name) ?? {}),
      callOther,
      call: callAs({ ...key, key: secret, address: addressOf(request.raw) }),
      link: (path, parameters = {}) => `${base}${path === '/' ? '' : path}${queryOf(parameters)}`,
    }
  }

  function demand(visit: Visit, route: AnyRouteName): void {
    if (visit.can(route)) return
    const { scope } = byName.get(route) ?? {}
    throw scope === undefined
      ? new HttpError(404, `the ${side} has no such page`)
      : new HttpError(403, `the key ${visit.key.name} lacks the scope ${scope}: add it in the configuration`)
  }

  async function showPage(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const visit = visitOf(request)
    const first = pages.find(({ letter, needs }) => letter !== undefined && visit.can(needs))
    // The sign-in leads to the overview, which a key may lack.
    if (page.path === '/' && first && first !== page) return reply.redirect(visit.link(first.path), 303)
    demand(visit, page.needs)
    if (page.live && isOfLivePart(request)) {
      const compose = page.live
      const headers = { ...(reply.getHeaders() as Record<string, string>), 'cache-control': 'no-store' }
      live.add(reply.raw, headers, async () => {
        if (!(await openSession(request, reply))) throw sessionEnded()
        return compose(visit)
      })
      return reply.hijack()
    }
    const still = (await page.still?.(visit)) ?? ''
    const shown = page.live ? liveOf(visit, page.path, await page.live(visit)) : { control: '', part: '' }
    const content = html`!${noteOf(visit)}!${shown.control}!${still}!${shown.part}`
    return send(request, reply, { title: page.title, path: sectionOf(page.path), content })
  }

  /** The effect of the act that the person has just done. */
  function noteOf({ query: { did, count = '' } }: Visit): Html {
    const act = acts.find(({ path }) => path === did)
    return act && /^\d{1,15}$/.test(count)
      ? html`<p class="note good" role="status" tabindex="-1" autofocus>${act.done(Number(count))}</p>`
      : ''
  }

  async function askFor(act: Act, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const visit = visitOf(request)
    demand(visit, act.needs)
    return showQuestion(act, questionContent(act, visit, await act.ask(visit)), request, reply)
  }

  const showQuestion = ({ title, path }: Act, content: Html, request: FastifyRequest, reply: FastifyReply) =>
    send(request, reply, { title, path: sectionOf(path), content })

  async function carryOut(act: Act, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const fields = formOf(request)
    const visit = visitOf(request)
    demand(visit, act.needs)
    let done: Done
    try {
      done = await act.act(visit, fields)
    } catch (error) {
      // The form is shown again, if it can be.
      const refusedVisit = { ...visit, refused: fields }
      const question = await act.ask(refusedVisit).catch(() => undefined)
      if (!question) throw error
      const { status, message } = reportRefusal(error, request)
      const content = questionContent(act, refusedVisit, question, refusalOf(message))
      return showQuestion(act, content, request, reply.code(status))
    }
    const { to, count } = done
    return reply.redirect(`${to}${to.includes('?') ? '&' : '?'}${queryOf({ did: act.path, count }).slice(1)}`, 303)
  }

  /** The fields of a form that a page of this session sent. */
  function formOf(request: FastifyRequest): Fields {
    const { csrf, ...fields } = fieldsOf(request.body)
    if (csrf !== opened.get(request)?.csrf)
      throw new HttpError(403, 'the form is not of your session: open the page again, and send it once more')
    return fields
  }

  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    { title, path, content }: { readonly title: string; readonly path: string; readonly content: Html },
  ): Promise<FastifyReply> => sendDocument(request, reply, title, frameOf(visitOf(request), pages, path, content))

  /** @param refreshTo the page that the browser opens at once */
  async function sendDocument(
    request: FastifyRequest,
    reply: FastifyReply,
    title: string,
    body: Html,
    refreshTo?: string,
  ): Promise<FastifyReply> {
    const frame = { title, side, base: baseOf(request), versions: await files.versions(), refreshTo }
    return reply.type('text/html; charset=utf-8').send(documentOf(frame, body))
  }

  function reportRefusal(error: unknown, { method, routeOptions: { url: path = '' } }: FastifyRequest) {
    const refusal = asRefusal(error)
    // A route of /admin has reported its own error.
    if (!(error instanceof HttpError)) {
      const { status, message } = refusal
      emit('request.refused', { side, method, path, status, error: message, cause: messageOf(error) })
    }
    return refusal
  }

  async function showError(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { status, message } = reportRefusal(error, request)
    // The script would show any other content as the live part. After an error of the server it connects again.
    if (isOfLivePart(request))
      return status < 500
        ? reply.code(200).type(eventStream).send(endedEvent)
        : reply.code(status).type(eventStream).send('')
    const path = request.routeOptions.url ?? ''
    const isOpen = opened.has(request)
    const ways: readonly Link[] = isOpen ? waysOn(request, status) : [[baseOf(request), 'Sign in']]
    const { reason, note = reason } = request.method === 'POST' && isOpen ? fieldsOf(request.body) : {}
    const { title, content } = errorContent(status, message, ways, note)
    reply.code(status)
    if (isOpen) return send(request, reply, { title, path: sectionOf(path.replace(/^\/console/, '')), content })
    return sendDocument(request, reply, title, html`<main class="sign-in" id="content">!${content}</main>`)
  }

  /** Where the person can go on: the page again, or the page or form before it. */
  function waysOn(request: FastifyRequest, status: number): readonly Link[] {
    const { method, originalUrl, headers } = request
    const base = baseOf(request)
    const { referer = '' } = headers
    return [
      ...(method === 'GET' && status >= 500 ? [[originalUrl, 'Try again'] as const] : []),
      ...(referer.startsWith(`${originOf(request)}${base}`) ? [[referer, 'Back'] as const] : []),
      [base, 'Overview'],
    ]
  }
}

const isOfLivePart = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') === true

const sessionEnded = (): HttpError => new HttpError(401, 'the session has ended: sign in again')

const unknownPerson = (name: string): string =>
  `${name} may not use this console: add the name to console.people, with scopes`

/** The live part of a page, and what pauses it. The address says whether it is paused. */
function liveOf(visit: Visit, path: string, part: Html): { readonly control: Html; readonly part: Html } {
  const { live: state, did: _, count: __, ...query } = visit.query
  const isPaused = state === 'off'
  const connect = isPaused
    ? ''
    : html`hx-sse:connect="${visit.link(path, query)}" hx-sse:close="ended" hx-swap="innerMorph"`
  const control = html`<p class="switch" role="status"><a href="${visit.link(path, { ...query, live: isPaused ? undefined : 'off' })}" data-pause !${isPaused ? 'data-off' : ''}>${isPaused ? 'Paused: continue' : 'Live: pause'}</a></p>`
  return { control, part: html`<div id="live" !${connect}>!${part}</div>` }
}

/** The fields of a query or of a form. Empty ones are left out, since a form sends each; repeated ones are joined by commas. */
function fieldsOf(given: unknown): Fields {
  const parameters = Buffer.isBuffer(given)
    ? new URLSearchParams(given.toString())
    : new URLSearchParams(
        Object.entries((given ?? {}) as Readonly<Record<string, string | readonly string[]>>).flatMap(
          ([name, values]) => [values].flat().map((value): [string, string] => [name, value]),
        ),
      )
  const names = [...new Set(parameters.keys())]
  const fields = names.map((name) => [name, parameters.getAll(name).filter(Boolean).join(',')] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== ''))
}

function asRefusal(error: unknown): { readonly status: number; readonly message: string } {
  const { status, statusCode, message } = error as { status?: number; statusCode?: number; message: string }
  const code = status ?? statusCode ?? 500
  // The message of an unexpected error may contain data.
  return code < 500 || error instanceof HttpError
    ? { status: code, message }
    : { status: 503, message: 'the server cannot answer now: retry later; if the error persists, its log says why' }
}
