// The formats of a report: complete, safe to publish, and readable by programs.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import test from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { chromium as engine } from 'playwright-core'
import { Value } from 'typebox/value'
import { operatorChecks } from '../../src/tools/checker/operator/checks.ts'
import { createReport } from '../../src/tools/checker/report.ts'
import { type Report, ReportSchema } from '../../src/tools/checker/report-schema.ts'
import { compareReports } from '../../src/tools/checker/reports/compare.ts'
import { htmlReport } from '../../src/tools/checker/reports/html.ts'
import { junitReport } from '../../src/tools/checker/reports/junit.ts'
import { textReport } from '../../src/tools/checker/reports/text.ts'
import { prepareRun } from '../../src/tools/checker/run.ts'
import { features } from '../../src/tools/checker/target.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { chromium, withoutChromium } from '../support/services/chromium.ts'
import { allChecks, facts } from './check-plain.ts'
import { after, before, isSingle } from './mutants/mutant.ts'
import { error, json, key, type Mutation, startPlainOperator } from './plain-operator.ts'

async function reportOf(mutation?: Mutation, only?: readonly string[]): Promise<Report> {
  const operator = await startPlainOperator(mutation)
  try {
    const prepared = await prepareRun({
      url: operator.url,
      key,
      checks: allChecks,
      facts,
      rules: 'bellwire',
      mostMessages: 5_000,
      ...(only && { only }),
    })
    return createReport({
      subject: 'operator',
      url: operator.url,
      groups: operatorChecks,
      rules: 'bellwire',
      facts,
      outcome: await prepared.run(),
      mark: prepared.mark,
      offered: [...prepared.endpoints.keys()],
      notOffered: features.filter((feature) => !prepared.endpoints.has(feature)),
      version: '0.1.0',
      interfaceVersion: '1',
      agreed: { 'Rate limit': '200 <a second>' },
    })
  } finally {
    operator.stop()
  }
}

/** Of the plain operator and all checks. */
const whole = await reportOf()

const formatsOf = (report: Report): Readonly<Record<string, string>> => ({
  html: htmlReport(report),
  junit: junitReport(report),
  json: JSON.stringify(report),
  text: textReport(report),
})

/** Returns the key of the request in its error, as a debug mode does. */
const tellsKey: Mutation = {
  wrap: (next) => async (request) => {
    const answer = await next(request)
    if (answer.status === 200) return answer
    const sent = String(request.headers['x-api-key'])
    return json(answer.status, { message: `your key was ${sent}` }, { 'x-debug': sent })
  },
}

test('no format of a report contains the key, or a part of it that was sent as a wrong key', async () => {
  const report = await reportOf(tellsKey, ['malformed', 'auth'])
  assert.ok(report.results.some(({ status }) => status === 'failed'))
  for (const [format, text] of Object.entries(formatsOf(report))) {
    assert.ok(!text.includes(key.slice(0, -1)), format)
    assert.ok(format === 'junit' || text.includes('[redacted]'), format)
  }
})

test('text of the operator cannot add elements to the HTML page, or break the XML', async () => {
  const report = await reportOf(
    before(isSingle, () => error(400, '</pre><script>alert(1)</script>"\u0001\ud800&')),
    ['single', 'malformed', 'json'],
  )
  const { html = '', junit = '' } = formatsOf(report)
  assert.doesNotMatch(html, /<script/)
  assert.match(html, /&lt;script&gt;/)
  assert.match(html, /200 &lt;a second&gt;/)
  assertWellFormed(junit)
  assertWellFormed(html.slice(html.indexOf('<body>'), html.indexOf('</html>')).replaceAll(/<(br|meta)>/g, ''))
})

test('the JSON report follows its schema', async () => {
  for (const report of [whole, await reportOf(tellsKey, ['malformed', 'auth', 'restart'])]) {
    const read: unknown = JSON.parse(JSON.stringify(report))
    assert.deepEqual([...Value.Errors(ReportSchema, read)], [])
  }
})

test('a violated must fails the run; a violated decision does not, and breaks no build', async () => {
  const decision = await reportOf(
    after(
      (request, { status }) => isSingle(request) && status === 400,
      (answer) => ({ ...answer, status: 422 }),
    ),
    ['malformed'],
  )
  assert.equal(decision.conclusion, 'passed')
  assert.deepEqual([decision.counts.must.failed, decision.counts.decision.failed], [0, 1])
  assert.match(junitReport(decision), /failures="0" errors="0"/)
  assert.match(textReport(decision), /Bellwire’s decisions\n\n! malformed\.status {2}§7\.1, row 43/)
  const must = await reportOf(
    after(
      (_, { status }) => status === 400,
      () => json(400, { message: 'no' }),
    ),
    ['malformed'],
  )
  assert.equal(must.conclusion, 'failed')
  assert.match(junitReport(must), /<failure message="a body that is not JSON: status 400/)
  assert.match(textReport(must), /1 of \d+ required rules is violated/)
})

test('a finding shows its effect, its remedy and the decisive request', async () => {
  const report = await reportOf(
    after(
      (request, { status }) => isSingle(request) && status === 400,
      () => json(500, { error: 'x' }),
    ),
    ['malformed'],
  )
  const found = report.results.find(({ check, status }) => check === 'malformed.final' && status === 'failed')
  assert.ok(found)
  assert.match(found.seen ?? '', /^a body that is not JSON: status 500/)
  const decisive = found.exchanges.filter((exchange) => exchange.decisive)
  assert.deepEqual(
    decisive.map(({ label }) => label),
    ['a body that is not JSON'],
  )
  const { html = '', text = '' } = formatsOf(report)
  for (const part of [found.consequence, found.remedy]) assert.ok(html.includes(part), part)
  assert.match(text, /remedy {2}Answer 400\. Catch the errors of the JSON parser/)
})

test('nothing delivered: the report is incomplete, and says it before all else', async () => {
  const report = await reportOf(
    before(
      () => true,
      () => error(503, 'the provider is away'),
    ),
  )
  assert.equal(report.conclusion, 'incomplete')
  assert.match(report.warnings[0] ?? '', /checks never reached a success.*status 503: the provider is away/)
  assert.match(textReport(report), /^\n! \d+ checks never reached a success/)
})

test('a report of a part does not say that the operator follows the interface', async () => {
  assert.match(textReport(whole), /this operator follows the interface/)
  const part = textReport({ ...whole, only: ['single'] })
  assert.match(part, /required rules that were checked are kept/)
  assert.doesNotMatch(part, /follows the interface/)
})

test('two reports are compared by check and target', async () => {
  const changed = (status: 'failed' | 'skipped'): Report => ({
    ...whole,
    results: whole.results.map((each) =>
      each.check === 'batch.id' && each.target === 'push batch' ? { ...each, status } : each,
    ),
  })
  assert.deepEqual(compareReports(changed('failed'), whole).fixed, ['batch.id (push batch)'])
  assert.deepEqual(compareReports(whole, changed('failed')).broken, ['batch.id (push batch)'])
  assert.deepEqual(compareReports(whole, changed('skipped')).others, ['batch.id (push batch): passed, now skipped'])
  assert.match(textReport(whole, compareReports(whole, whole)), /No difference\./)
})

test('the curl command of a finding repeats its request', async (t) => {
  const operator = await startPlainOperator()
  t.after(operator.stop)
  const prepared = await prepareRun({
    url: operator.url,
    key: `${key}`,
    checks: allChecks,
    facts: { ...facts, users: { ...facts.users, normal: "o'brien $HOME" } },
    rules: 'bellwire',
    mostMessages: 5_000,
    only: ['malformed', 'auth.required'],
  })
  const { results } = await prepared.run()
  const { curlOf } = await import('../../src/tools/checker/reports/curl.ts')
  let compared = 0
  for (const { request, answer } of new Set(results.flatMap(({ exchanges }) => exchanges))) {
    const command = curlOf(request, 4_000)
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, API_KEY: key } })
    assert.match(stdout, new RegExp(`^HTTP/1\\.1 ${answer?.status} `), command)
    assert.ok(stdout.endsWith(answer?.body ?? ''), `${command}\n${stdout}`)
    compared++
  }
  assert.ok(compared > 10, String(compared))
})

test('the command of a compressed body compresses it, and that of a body in chunks sends chunks', async (t) => {
  const { curlOf } = await import('../../src/tools/checker/reports/curl.ts')
  const arrived: { body: Buffer; encoding: string | undefined }[] = []
  const server = createServer(async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray())
    arrived.push({ body, encoding: incoming.headers['transfer-encoding'] })
    response.end()
  })
  const { port } = await listenLocally(t, server)
  const request = { method: 'POST', url: `http://127.0.0.1:${port}/`, key: 'none', keyHeader: 'X-Api-Key' } as const
  const body = '{"title":"it\'s \\u00e9"}'
  for (const headers of [
    { 'content-encoding': 'gzip', 'content-length': '40' },
    { 'content-type': 'application/json' },
  ])
    await promisify(execFile)('sh', ['-c', curlOf({ ...request, headers, body }, 4_000)])
  const [compressed, chunked] = arrived
  assert.equal(gunzipSync(compressed?.body ?? '').toString(), body)
  assert.deepEqual([chunked?.encoding, chunked?.body.toString()], ['chunked', body])
})

/** A minimal parser: every element is closed, in order, and no character is left unescaped. */
function assertWellFormed(text: string): void {
  const open: string[] = []
  const tags = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<]*")?)*)\s*(\/?)>|<\?xml[^>]*\?>|<!doctype html>/gi
  const rest = text.replaceAll(tags, (_, closing: string, name: string | undefined, _attributes, empty: string) => {
    if (name === undefined || empty === '/') return ''
    if (closing === '') open.push(name)
    else assert.equal(open.pop(), name)
    return ''
  })
  assert.deepEqual(open, [])
  assert.doesNotMatch(rest, /[<\u0000-\u0008]|&(?!(?:amp|lt|gt|quot|#10);)/)
}

test('a run of decisions alone that are kept is passed, and its sentence counts them', async () => {
  const report = await reportOf(undefined, ['batch.empty'])
  assert.equal(report.counts.must.passed + report.counts.must.not_judged, 0)
  assert.equal(report.conclusion, 'passed')
  assert.match(textReport(report), /No required rule was among the checks\. (\d+) of \1 other rules are kept\./)
})

test('the HTML page fits a narrow window, has each anchor once, and axe finds nothing', {
  skip: await withoutChromium(),
}, async (t) => {
  const longName = 'a-long-name-without-a-place-to-break-it-in-two-lines'
  const report = await reportOf(tellsKey)
  const [open] = report.results.filter(({ status }) => status === 'skipped')
  assert.ok(open)
  const results = [...report.results, { ...open, seen: longName.repeat(4) }]
  const browser = await engine.launch({ executablePath: await chromium(), args: ['--no-sandbox', '--disable-gpu'] })
  t.after(() => browser.close())
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 360, height: 800 } })
    await page.setContent(htmlReport({ ...report, results }))
    await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    assert.deepEqual(
      await page.evaluate(
        "[...document.querySelectorAll('[id]')].filter(({ id }, i, all) => all.findIndex((each) => each.id === id) !== i)",
      ),
      [],
    )
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
    const faults = await page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
    )
    assert.deepEqual(faults, [], colorScheme)
  }
})
