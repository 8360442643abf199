// Alerts, which arrive at a real web server and a real mail server.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { emit } from '../../src/base/runtime/events.ts'
import { recordPauses } from '../../src/base/runtime/pauses.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { type AlertSender, createAlerts, type Notice } from '../../src/subjects/alerts/alerts.ts'
import { alertMigrations, ownReports, type Reports, storedReports } from '../../src/subjects/alerts/reports.ts'
import { alertMail } from '../../src/subjects/alerts/senders/mail.ts'
import { alertWebhook } from '../../src/subjects/alerts/senders/webhook.ts'
import type { Trouble } from '../../src/subjects/alerts/trouble.ts'
import { createTroubles, type TroubleSources } from '../../src/subjects/alerts/troubles.ts'
import { onPostgres } from '../support/engines.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { passTime } from '../support/set-clock.ts'
import { startPlatform } from '../support/sides.ts'
import { event } from '../support/wait.ts'

const minute = 60_000
const limits = { oldestMs: 15 * minute, failedPerHour: 2, diskFreeBytes: 1_000 }

const trouble = (name: string, over: Partial<Trouble> = {}): Trouble => ({
  name,
  says: 'it <is> away',
  remedy: 'look at it: bellwire doctor',
  since: Date.now(),
  urgent: false,
  ...over,
})

/** Alerts about the troubles in `current`, and their notices: 'a', or '-a' when it has ended. */
function watched(t: TestContext, reports?: Reports) {
  const current: Trouble[] = []
  const sent: string[][] = []
  const sender: AlertSender = {
    name: 'witness',
    send: async (notices) =>
      void sent.push(notices.map(({ name, endedAt }) => (endedAt === undefined ? name : `-${name}`))),
    close: async () => {},
  }
  const alerts = createAlerts(
    { current: async () => current, stop() {} },
    { to: [sender], afterMs: 5 * minute },
    reports,
  )
  t.after(() => alerts.stop())
  const after = async (minutes: number, ...troubles: readonly Trouble[]): Promise<void> => {
    passTime(t, minutes * minute)
    current.splice(0, current.length, ...troubles)
    await alerts.check()
  }
  return { after, sent, sender }
}

test('a trouble is reported once when it has lasted, and once when it has ended; urgent ones at once', async (t) => {
  const { after, sent } = watched(t)
  const [lane, key] = [trouble('lane'), trouble('key', { urgent: true })]
  await after(1, lane, key)
  await after(1, lane, key)
  assert.deepEqual(sent, [['key']])
  await after(4, lane, key)
  await after(10, lane, key)
  assert.deepEqual(sent, [['key'], ['lane']])
  await after(2)
  await after(2)
  assert.deepEqual(sent, [['key'], ['lane'], ['-key', '-lane']])
})

test('a trouble that comes back within a minute has not ended, and a short one is never reported', async (t) => {
  const { after, sent } = watched(t)
  const [lane, short] = [trouble('lane', { urgent: true }), trouble('short')]
  await after(0, lane, short)
  await after(0.5)
  await after(0.4, lane)
  await after(10, lane)
  assert.deepEqual(sent, [['lane']])
})

onPostgres(
  'of several processes with one trouble, one reports its beginning, and one its end when none has it',
  async (t, store) => {
    const sent: string[] = []
    const processes = await Promise.all(
      ['a', 'b', 'c'].map(async (process) => {
        const database = await openDatabase(store, { migrations: alertMigrations })
        const current: Trouble[] = []
        const sender: AlertSender = {
          name: process,
          send: async (notices) =>
            void sent.push(...notices.map(({ name, endedAt }) => (endedAt === undefined ? name : `-${name}`))),
          close: async () => {},
        }
        const options = { to: [sender], afterMs: 5 * minute }
        const alerts = createAlerts({ current: async () => current, stop() {} }, options, storedReports(database))
        t.after(async () => {
          await alerts.stop()
          await database.close()
        })
        return { current, alerts, database }
      }),
    )
    const after = async (minutes: number, ...has: readonly boolean[]): Promise<void> => {
      passTime(t, minutes * minute)
      for (const [i, { current }] of processes.entries())
        current.splice(0, current.length, ...(has[i] ? [trouble('key', { urgent: true })] : []))
      await Promise.all(processes.map(({ alerts }) => alerts.check()))
    }
    await after(0, true, true, true)
    await after(0.5, true, true, true)
    assert.deepEqual(sent, ['key'])
    await after(2, false, true, false)
    await after(2, false, false, true)
    assert.deepEqual(sent, ['key'], 'some process has the trouble')
    await after(0.25, false, false, false)
    await after(2, false, false, false)
    await after(2, false, false, false)
    assert.deepEqual(sent, ['key', '-key'])
    await after(1, false, true, false)
    assert.deepEqual(sent, ['key', '-key', 'key'], 'it begins again')
  },
)

test('while the store is away, a process reports by itself, and repeats nothing when the store is back', async (t) => {
  const stored = ownReports()
  let away = false
  const ifBack =
    <Args extends readonly unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> =>
      away ? Promise.reject(new Error('the store is away')) : call(...args)
  const reports = { renew: ifBack(stored.renew), begin: ifBack(stored.begin), end: ifBack(stored.end) }
  const { after, sent } = watched(t, reports)
  const [key, store] = [trouble('key', { urgent: true }), trouble('store', { urgent: true })]
  await after(0, key)
  away = true
  await after(0.25, key, store)
  await after(5, key, store)
  away = false
  await after(0.25, key)
  await after(0.25, key)
  await after(2, key)
  await after(2, key)
  assert.deepEqual(sent, [['key'], ['store'], ['-store']])
})

test('a receiver that is away gets all notices when it is back', async (t) => {
  const { after, sent, sender } = watched(t)
  const { send } = sender
  const failed = event('alerts.failed')
  Object.assign(sender, { send: async () => Promise.reject(new Error('away')) })
  await after(0, trouble('lane', { urgent: true }))
  assert.equal((await failed).error, 'away')
  await after(2)
  Object.assign(sender, { send })
  await after(1)
  assert.deepEqual(sent, [['lane', '-lane']])
})

test('each trouble arrives at a web server and at a mail server with the command to type, and so does its end', async (t) => {
  const { received, url } = await startWebServer(t)
  const { mails, smtp } = await startMailServer(t)
  const running = { inFlight: 0, heldForMs: 0, oldestAgeMs: 0, waiting: 0, controls: [], owned: true, state: 'running' }
  let states: readonly object[] = [
    { ...running, name: '1/push', state: 'held', heldForMs: 6 * minute, heldReason: '503' },
    {
      ...running,
      name: '2/push',
      state: 'paused',
      controls: [{ kind: 'pause', by: 'office', reason: 'a test', at: 1 }],
    },
    { ...running, name: '3/push', oldestAgeMs: 16 * minute },
  ]
  let free = 999
  let critical = 2
  const lanes = (() => [0, 1, 2].map((i) => ({ state: async () => states[i] }))) as unknown as TroubleSources['lanes']
  const findings = async () => [{ brand: '1', field: 'excluded', run: '7', critical }]
  const to = [alertWebhook({ url, body: 'generic', origin: 'operator on gw-1' }), alertMail({ ...mail, smtp })]
  const troubles = createTroubles({ lanes, diskFree: async () => free, findings }, limits)
  const alerts = createAlerts(troubles, { to, afterMs: 5 * minute })
  t.after(() => alerts.stop())
  const [fcm, webPush] = [recordPauses('fcm'), recordPauses('web-push')]
  t.after(() => {
    for (const pauses of [fcm, webPush]) pauses.close()
  })
  emit('store.lost', { store: 's', error: 'disk full' })
  emit('provider.alert', { provider: 'fcm', error: 'wrong key', remedy: 'correct the key: bellwire doctor' })
  fcm.begin({ reason: 'away', forMs: 1 })
  webPush.begin({ counterpart: 'push.example', reason: 'away', forMs: 1 })
  emit('removals.stopped', { service: 'apns', removals: 9, sends: 10 })
  emit('suppression.away', { source: 'sql', error: 'refused' })
  emit('suppression.held', { source: 'file', why: 'it is short', remedy: 'if it is right: touch file.confirmed' })
  emit('consumer.lost', { consumer: 'amqp links', error: 'refused', inMs: 1 })
  emit('consumer.held', { consumer: 'amqp links', messages: 1, error: 'full', inMs: 1 })
  const settled = { lane: '1/push', seq: 1, attempt: 1, rule: '400', ageMs: 1, untracked: false, category: 'failed' }
  for (let n = 0; n <= limits.failedPerHour; n++) emit('item.settled', settled)
  const names = [
    'amqp links cannot be stored',
    'amqp links is not consumed',
    'fcm is paused',
    'fcm needs attention',
    'file has an implausible list',
    'lane 1/push is held',
    'lane 2/push is paused',
    'many Failed Actions',
    'messages wait in lane 3/push',
    'removals of apns have stopped',
    'sql cannot answer',
    'store s stores nothing',
    'the disk is nearly full',
    'the lists of brand 1 differ in excluded',
    'web-push for push.example is paused',
  ]
  const posted = (state: 'began' | 'ended') =>
    received
      .flatMap((text) => (JSON.parse(text) as { notices: { state: string; name: string; remedy: string }[] }).notices)
      .filter((notice) => notice.state === state)
  const mailed = (state: 'began' | 'ended') => {
    // A long line of a mail is wrapped.
    const lines = mails.flatMap((text) => text.replaceAll('=\r\n', '').split('\r\n'))
    return names.filter((name) => lines.includes(state === 'ended' ? `ended: ${name}` : name))
  }
  const assertArrived = (state: 'began' | 'ended'): void => {
    const received = posted(state).map(({ name }) => name)
    assert.deepEqual(received.toSorted(), names)
    assert.deepEqual(mailed(state), names)
  }

  for (const minutes of [0, 6]) {
    passTime(t, minutes * minute)
    await alerts.check()
  }
  assertArrived('began')
  for (const { remedy } of posted('began')) assert.match(remedy, /bellwire |by itself|touch /)

  states = states.map((_, i) => ({ ...running, name: `${i + 1}/push` }))
  free = limits.diskFreeBytes
  critical = 0
  emit('store.back', { store: 's', downMs: 1 })
  fcm.end()
  webPush.end({ counterpart: 'push.example' })
  emit('removals.confirmed', { service: 'apns', by: 'office' })
  emit('suppression.back', { source: 'sql' })
  emit('suppression.accepted', { source: 'file' })
  emit('consumer.back', { consumer: 'amqp links' })
  emit('consumer.released', { consumer: 'amqp links' })
  // The hour of Failed Actions is over.
  for (const minutes of [0, 2, 60, 2]) {
    passTime(t, minutes * minute)
    await alerts.check()
  }
  assertArrived('ended')
})

test('a source that stays away is one trouble, which ends when it answers, or when nothing is asked in vain for a quarter of an hour', async (t) => {
  const troubles = createTroubles({ lanes: () => [], diskFree: async () => undefined }, limits)
  t.after(() => troubles.stop())
  emit('suppression.away', { source: 'sql', error: 'refused' })
  const [first] = await troubles.current()
  // The longest pause of a lane between two tries.
  passTime(t, 5 * minute)
  assert.equal((await troubles.current())[0]?.since, first?.since)
  emit('suppression.away', { source: 'sql', error: 'refused' })
  passTime(t, 14 * minute)
  assert.equal((await troubles.current())[0]?.since, first?.since)
  passTime(t, 2 * minute)
  assert.deepEqual(await troubles.current(), [])
  emit('suppression.away', { source: 'sql', error: 'refused' })
  emit('suppression.held', { source: 'file', why: 'it is short', remedy: 'touch file.confirmed' })
  passTime(t, 10 * minute)
  assert.equal((await troubles.current()).length, 2)
  emit('suppression.back', { source: 'sql' })
  emit('suppression.accepted', { source: 'file' })
  assert.deepEqual(await troubles.current(), [])
})

test('the confirmation of removals ends the alert of their stop', async (t) => {
  const troubles = createTroubles({ lanes: () => [], diskFree: async () => undefined }, limits)
  t.after(() => troubles.stop())
  emit('removals.stopped', { service: 'fcm', removals: 9, sends: 10 })
  const remedy = 'bellwire removals confirm fcm'
  emit('provider.alert', { provider: 'fcm', error: 'removals are stopped', remedy, isStop: true })
  assert.deepEqual(
    (await troubles.current()).map(({ name }) => name),
    ['removals of fcm have stopped'],
  )
  emit('removals.confirmed', { service: 'fcm', by: 'office' })
  assert.deepEqual(await troubles.current(), [])
})

test('a cause is one trouble: the alert of a credential covers the pause or the hold for it, and no other one', async (t) => {
  const lane = { inFlight: 0, oldestAgeMs: 0, waiting: 0, owned: true }
  const byItself = { kind: 'pause', by: 'the lane', reason: '100 refusals in a row: wrong key', at: 1 }
  const states = [
    { ...lane, name: '1/push', state: 'held', heldForMs: 5_000, heldReason: '401: wrong key', controls: [] },
    { ...lane, name: '2/push', state: 'paused', heldForMs: 0, controls: [byItself] },
  ]
  const lanes = (() => states.map((state) => ({ state: async () => state }))) as unknown as TroubleSources['lanes']
  const troubles = createTroubles({ lanes, diskFree: async () => undefined }, limits)
  const pauses = recordPauses('fcm')
  t.after(() => {
    troubles.stop()
    pauses.close()
  })
  const alert = (provider: string, error: string) =>
    emit('provider.alert', { provider, error, remedy: 'bellwire doctor' })
  alert('1/push', '401: wrong key')
  alert('2/push', `the lane is paused: ${byItself.reason}`)
  alert('fcm', '401: the account is disabled')
  pauses.begin({ reason: '401: the account is disabled', forMs: minute })
  const names = async () => (await troubles.current()).map(({ name }) => name).toSorted()
  const attention = ['1/push needs attention', '2/push needs attention', 'fcm needs attention']
  assert.deepEqual(await names(), attention)

  states[0] = { ...(states[0] as (typeof states)[number]), heldReason: '503' }
  byItself.reason = 'a person has paused it'
  pauses.begin({ counterpart: 'app-2', reason: '503', forMs: minute })
  const others = ['fcm for app-2 is paused', 'lane 1/push is held', 'lane 2/push is paused']
  assert.deepEqual(await names(), [...attention, ...others].toSorted())
})

test('held, paused and late lanes, many Failed Actions and a full disk are troubles; lanes of other processes are not', async (t) => {
  const lane = { inFlight: 0, heldForMs: 0, oldestAgeMs: 0, waiting: 0, controls: [], owned: true }
  const states = [
    { ...lane, name: '1/push', state: 'held', heldForMs: 5_000, heldReason: '503' },
    { ...lane, name: '2/push', state: 'paused', controls: [{ kind: 'pause', by: 'office', reason: 'a test', at: 1 }] },
    { ...lane, name: '3/push', state: 'running', oldestAgeMs: 16 * minute },
    { ...lane, name: '4/push', state: 'elsewhere', owned: false },
  ]
  const lanes = (() => states.map((state) => ({ state: async () => state }))) as unknown as TroubleSources['lanes']
  const troubles = createTroubles({ lanes, diskFree: async () => 999 }, limits)
  t.after(() => troubles.stop())
  const settled = { lane: '1/push', seq: 1, attempt: 1, rule: '400', ageMs: 1, untracked: false }
  for (const category of ['failed', 'failed', 'failed', 'successful']) emit('item.settled', { ...settled, category })
  const found = await troubles.current()
  assert.deepEqual(found.map(({ name, says }) => `${name}: ${says}`).toSorted(), [
    'lane 1/push is held: 503',
    'lane 2/push is paused: by office: a test',
    'many Failed Actions: 3 in the last hour',
    'messages wait in lane 3/push: the oldest one waits for 16 min',
    'the disk is nearly full: 0 MiB are free',
  ])
  passTime(t, 61 * minute)
  assert.ok(!(await troubles.current()).some(({ name }) => name === 'many Failed Actions'))
})

const mail = { from: 'bellwire@example.com', to: ['ops@example.com'], origin: 'operator on gw-1' }
const notices: readonly Notice[] = [
  trouble('lane 1/push is held', { since: 0 }),
  { ...trouble('the disk is nearly full', { since: 0 }), endedAt: 90_000 },
]

/** A web server. @param status the status of its answers */
async function startWebServer(t: TestContext, status: (path?: string) => number = () => 200) {
  const received: string[] = []
  const server = createServer(async (request, response) => {
    received.push(await text(request))
    response.writeHead(status(request.url)).end()
  })
  const { url } = await listenLocally(t, server)
  return { received, at: url, url: `${url}/hook?secret=1` }
}

/** A mail server that speaks SMTP. Each mail begins with the user who sent it. */
async function startMailServer(t: TestContext) {
  const mails: string[] = []
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    onAuth: ({ username, password }, _session, done) => done(null, { user: `${username} ${password}` }),
    onData(stream, session, done) {
      stream.toArray().then((parts) => {
        mails.push(`${session.user}\n${parts.join('')}`)
        done()
      }, done)
    },
  })
  const { port } = await listenLocally(t, smtp.server)
  return { mails, smtp: `smtp://bell%40x:secret@127.0.0.1:${port}` }
}

test('a webhook gets the notices, or a message of Slack or Teams; another answer than 2xx is an error', async (t) => {
  let status = 200
  const { received, url } = await startWebServer(t, () => status)
  const send = async (body: 'generic' | 'slack' | 'teams'): Promise<string> => {
    const sender = alertWebhook({ url, body, origin: 'platform on crm-1' })
    await sender.send(notices, 10_000).finally(() => sender.close())
    return received.at(-1) as string
  }
  assert.partialDeepStrictEqual(JSON.parse(await send('generic')), {
    from: 'platform on crm-1',
    notices: [
      { state: 'began', name: 'lane 1/push is held', since: '1970-01-01T00:00:00.000Z' },
      { state: 'ended', ended_at: '1970-01-01T00:01:30.000Z' },
    ],
  })
  const { text } = JSON.parse(await send('slack')) as { text: string }
  assert.match(text, /^Bellwire platform on crm-1: lane 1\/push is held, and 1 more\nlane 1\/push is held\n/)
  assert.match(
    text,
    /it &lt;is&gt; away\nlook at it: bellwire doctor\n\nended: the disk is nearly full\n.*after 1 min 30 s\./,
  )
  assert.match(await send('teams'), /"contentType":"application\/vnd\.microsoft\.card\.adaptive"/)
  status = 500
  await assert.rejects(send('generic'), /127\.0\.0\.1:\d+ answered 500$/)
})

test('a text from outside formats no message of Slack or Teams', async (t) => {
  const { received, url } = await startWebServer(t, () => 200)
  const says = 'the operator answered *503* _now_ [here](https://evil.example) <!channel>'
  const send = async (body: 'slack' | 'teams') => {
    const sender = alertWebhook({ url, body, origin: 'platform on crm-1' })
    await sender.send([trouble('lane 1/push is held', { says, since: 0 })], 10_000)
    await sender.close()
    return JSON.parse(received.at(-1) as string)
  }
  const { mrkdwn, text } = await send('slack')
  assert.equal(mrkdwn, false)
  assert.match(text, /&lt;!channel&gt;/)
  const [{ content }] = (await send('teams')).attachments
  assert.ok(content.body.every(({ type }: { type: string }) => type === 'RichTextBlock'))
  const lines = content.body.map(({ inlines }: { inlines: readonly { text: string }[] }) => inlines[0]?.text)
  assert.deepEqual(lines, [
    'Bellwire platform on crm-1: lane 1/push is held',
    'lane 1/push is held',
    `Began at 1970-01-01T00:00:00Z. ${says}`,
    'look at it: bellwire doctor',
  ])
})

test('a mail server gets the notices as one plain mail', async (t) => {
  const { mails, smtp } = await startMailServer(t)
  const sender = alertMail({ ...mail, smtp })
  await sender.send(notices, 10_000)
  await sender.close()
  assert.match(mails[0] ?? '', /^bell@x secret\n/)
  assert.match(mails[0] ?? '', /Subject: Bellwire operator on gw-1: lane 1\/push is held, and 1 more/)
  assert.match(mails[0] ?? '', /ended: the disk is nearly full/)
})

test('a side sends its alerts', async (t) => {
  const sent = Promise.withResolvers<readonly Notice[]>()
  const sender: AlertSender = { name: 'witness', send: async (all) => sent.resolve(all), close: async () => {} }
  await startPlatform(t, {
    lanes: [],
    alerts: { to: [sender], diskFreeBytes: Number.MAX_SAFE_INTEGER },
  })
  assert.deepEqual(
    (await sent.promise).map(({ name }) => name),
    ['the disk is nearly full'],
  )
})
