// The JavaScript and CSS blocks of README and docs work with a real operator: a backend gives a token, the client lists and marks.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import express from 'express'
import type { Inbox, InboxNotification } from '../../src/tools/widget/types.ts'
import { freePort } from '../support/free-port.ts'
import { element, keys, post, startOperator, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { fencedSnippets, pages, read, root, type Snippet } from './blocks.ts'

const only = (language: string, containing = ''): string => {
  const found: Snippet[] = pages
    .flatMap((page) => fencedSnippets(page, language))
    .filter(({ text }) => text.includes(containing))
  assert.equal(found.length, 1, `${language} ${containing}`)
  return found[0]?.text ?? ''
}

const backendKey = { name: 'backend', key: 'the-key-of-the-backend', scopes: ['tokens'], brands: ['1'] } as const
const startInbox = (t: TestContext) =>
  startOperator(t, { app: { secrets: ['a-secret-of-at-least-thirty-two-characters'] }, adminKeys: [backendKey] })

/** Imports a block as a module in which the names of the reader are defined. */
async function load(t: TestContext, text: string, names: object, exported = ''): Promise<Record<string, unknown>> {
  const folder = await temporary(t)
  const file = join(folder, 'block.mjs')
  const client = pathToFileURL(join(root, 'src/tools/widget/inbox.ts')).href
  const here = `const { ${Object.keys(names).join(', ')} } = globalThis.reader\n`
  Object.assign(globalThis, { reader: names })
  await writeFile(file, `${here}${text.replace('bellwire/inbox', client)}\nexport { ${exported} }\n`)
  return import(pathToFileURL(file).href)
}

test('the JavaScript of docs/inbox.md signs a user in, lists notifications, follows the stream and marks', async (t) => {
  const operator = await startInbox(t)
  const send = (title: string) =>
    post(`${operator.url}/channels/site/single`, element({ user_id: '1001' }, { title }), keys.one.key)
  await send('First')

  process.env.BACKEND_KEY = backendKey.key
  const app = express()
  const requireSignIn: express.RequestHandler = (request, _response, next) => {
    Object.assign(request, { user: { id: 1001 } })
    next()
  }
  const backend = only('js', 'app.post')
  assert.ok(backend.includes('http://127.0.0.1:8091/'))
  await load(t, backend.replace('http://127.0.0.1:8091', operator.url), { app, requireSignIn })
  const port = await freePort()
  const server = app.listen(port, '127.0.0.1')
  t.after(() => server.close())
  const getToken = async (): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/bellwire-token`, { method: 'POST' })
    return ((await answer.json()) as { token: string }).token
  }

  // What the client needs of a page.
  const page = { location: { origin: operator.url }, addEventListener: () => {}, document: new EventTarget() }
  const { setTimeout } = globalThis
  Object.assign(globalThis, page, {
    // A timer of a page does not keep it open.
    setTimeout: (...args: Parameters<typeof setTimeout>) => setTimeout(...args).unref(),
  })
  t.after(() => Object.assign(globalThis, { setTimeout }))
  const arrived: InboxNotification[] = []
  let rendered = 0
  const client = only('js', 'createInbox').replace('https://api.example.com', operator.url)
  const names = { getToken, render: () => rendered++, toast: (each: InboxNotification) => arrived.push(each) }
  const { inbox, open, seeAll, showMore } = (await load(t, client, names, 'inbox, open, seeAll, showMore')) as {
    inbox: Inbox
    open: (notification: InboxNotification) => Promise<void>
    seeAll: () => Promise<void>
    showMore: () => Promise<void>
  }
  t.after(() => inbox.stop())
  await until(() => inbox.state.status === 'live', { awaited: 'the client follows the stream' })
  await send('Second')
  await until(() => arrived.length === 1, { awaited: 'the arrival' })
  assert.deepEqual(
    inbox.state.items.map(({ title }) => title),
    ['Second', 'First'],
  )
  await open(arrived[0] as InboxNotification)
  await seeAll()
  await showMore()
  assert.deepEqual([inbox.state.unread, inbox.state.unseen, inbox.state.more], [1, 0, false])
  assert.ok(rendered >= 3)
  // The members of the state that a comment names.
  const [, members = ''] = /\{([\w, ]+)\}/.exec(client.split('render(')[1] ?? '') ?? []
  assert.deepEqual(members.split(', ').sort(), Object.keys(inbox.state).sort())
  inbox.stop()
})

// A compiler of JSX accepts each unknown attribute with a hyphen.
test('the element has each attribute that the HTML, JSX and Vue blocks give it', async () => {
  const element = await readFile(join(root, 'src/tools/widget/element.ts'), 'utf8')
  const [, properties = ''] = /static override readonly properties = \{\n([\s\S]*?)\n {2}\}/.exec(element) ?? []
  const known = [...properties.matchAll(/^ +(\w+): \{(?: attribute: '([\w-]+)')?(?!.*attribute: false)/gm)].map(
    ([, name, attribute]) => attribute ?? name,
  )
  const blocks = pages.flatMap((page) => fencedSnippets(page, 'html', 'jsx', 'vue'))
  const given = blocks.flatMap(({ text }) =>
    [...text.matchAll(/<bellwire-inbox ([^>]*)>/g)].flatMap(
      ([, attributes = '']) => attributes.match(/[\w-]+(?==)/g) ?? [],
    ),
  )
  assert.ok(given.length >= 8, given.join())
  for (const name of given) assert.ok(known.includes(name), `${name}: ${known.join()}`)
})

test('the CSS of docs/inbox.md is valid, and it and the lists beside it have the properties and parts of the element', async () => {
  const css = only('css')
  assert.deepEqual((await transform(css, { loader: 'css' })).warnings, [])
  const page = read('docs/inbox.md')
  const names = (text = '') => [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
  const [styles = '', ...sources] = await Promise.all(
    ['styles', 'element', 'notification-item'].map((name) =>
      readFile(join(root, `src/tools/widget/${name}.ts`), 'utf8'),
    ),
  )
  const properties = new Set([...styles.matchAll(/var\(--bellwire-([\w-]+)/g)].map(([, name = '']) => name))
  const [, listed] = /prefix `--bellwire-`: ([^\n]+)/.exec(page) ?? []
  assert.deepEqual(names(listed).sort(), [...properties].sort())
  for (const [, name = ''] of css.matchAll(/--bellwire-([\w-]+)/g)) assert.ok(properties.has(name), name)

  const source = sources.join()
  const parts = new Set([
    ...[...source.matchAll(/part="([^"]+)"/g)].flatMap(
      ([, words = '']) => words.match(/[a-z][a-z-]+(?=[' }]|$)/g) ?? [],
    ),
    ...[...source.matchAll(/notice\('([\w-]+)'/g)].map(([, name = '']) => name),
  ])
  const [, ofParts] = /Parts: ([\s\S]*?)\.\n/.exec(page) ?? []
  for (const name of [...names(ofParts), ...[...css.matchAll(/::part\(([\w-]+)/g)].map(([, name = '']) => name)])
    assert.ok(parts.has(name), `${name}: ${[...parts]}`)
})
