// The requirements for every push service, tested with its stand-in. Run by the test of each service.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import type { PushContent } from '../../src/contract/content.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import type { DeviceAnswer, Push, PushService } from '../../src/subjects/providers/push-service.ts'
import type { StandIn } from '../../src/tools/stand-ins/stand-in.ts'
import { contextOf } from '../support/context.ts'
import { until } from '../support/wait.ts'

export interface PushStage {
  readonly service: PushService
  readonly standIn: StandIn
  /** Creates a device that the service reaches. */
  device(brand?: string): Device
  /** Keys and passwords that no answer may contain. */
  readonly secrets: readonly string[]
}

/** An answer of the server, with the expected outcome of the message and verdict about the token. */
export interface Row {
  /** The name of the row in the answers table. */
  readonly row: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly outcome: {
    readonly category: 'successful' | 'failed' | 'fatal'
    readonly reason?: string
    readonly blame?: 'message' | 'call' | 'provider'
    readonly retryAfterMs?: number
    readonly uncertain?: true
  }
  /** The verdict about the token. Absent: the token is kept. */
  readonly token?: 'gone' | 'mismatch'
  readonly goneSince?: number
  /** The number of requests until the service returns this outcome. Default: 1. */
  readonly requests?: number
}

export interface PushFixture {
  readonly name: string
  /** Distinguishes runs with different options, in the titles. */
  readonly variant?: string
  readonly skip?: string | false
  /** A number of bytes that exceeds the size limit of the service. */
  readonly tooMany?: number
  /** The service uses HTTP/2, with which a server reports the requests that it has not processed. */
  readonly http2?: true
  /** The answers table of the service. */
  readonly rows: readonly Row[]
  readonly start: (t: TestContext) => Promise<PushStage>
}

export function pushTo(device: Device, over: Partial<Push> = {}): Push {
  const content: PushContent = {
    title: 'Hello',
    body: 'You have a bonus',
    url: 'https://example.com/b',
    data: '{"n":1}',
  }
  return { ref: randomUUID(), device, content, expiresAt: Date.now() + 3_600_000, ...over }
}

export function pushServiceSuite({
  name,
  variant,
  skip = false,
  tooMany = 5_000,
  http2,
  rows,
  start,
}: PushFixture): void {
  const check = (title: string, run: (stage: PushStage, t: TestContext) => Promise<void>): void => {
    test(`${name}${variant === undefined ? '' : ` (${variant})`}: ${title}`, { skip, timeout: 30_000 }, async (t) => {
      const stage = await start(t)
      t.after(async () => {
        await stage.service.close?.()
        await stage.standIn.close()
      })
      await run(stage, t)
    })
  }
  const acceptedArrivals = ({ standIn }: PushStage) => standIn.arrivals.filter(({ accepted }) => accepted)

  check('a device shows the message, and the answer has the provider’s identifier', async (stage) => {
    const { service, standIn } = stage
    const device = stage.device()
    assert.equal(service.reaches(device), true)
    const push = pushTo(device)
    const answer = await service.send(push, contextOf())
    assert.partialDeepStrictEqual(answer, { category: 'successful', ref: push.ref })
    assert.equal(answer.token, undefined)
    assert.match(answer.category === 'successful' ? (answer.providerId ?? '') : '', /./)
    await until(() => standIn.shown(device.token).length === 1, { awaited: 'the notification is shown' })
    const [shown] = standIn.shown(device.token)
    assert.partialDeepStrictEqual(shown, {
      title: 'Hello',
      body: 'You have a bonus',
      url: 'https://example.com/b',
      replaced: 0,
    })
    assert.equal(shown?.data.n, '1')
    // A browser has the push_id as the tag.
    assert.equal(shown?.data.push_id ?? shown?.tag, push.ref)
  })

  check('every row of the answers table has its outcome and verdict', async ({ service, standIn, device }, t) => {
    for (const { row, status, headers = {}, body, outcome, token, goneSince, requests = 1 } of rows) {
      await t.test(row, async () => {
        const before = standIn.arrivals.length
        const stop = standIn.play({ answer: { status, headers, body } })
        const answer = await service.send(pushTo(device()), contextOf())
        stop()
        const { category, reason, blame, retryAfterMs, uncertain } = answer as unknown as Record<string, unknown>
        const expected = {
          reason: undefined,
          blame: undefined,
          retryAfterMs: undefined,
          uncertain: undefined,
          ...outcome,
        }
        assert.deepEqual({ category, reason, blame, retryAfterMs, uncertain }, expected, JSON.stringify(answer))
        assert.equal(answer.token, token)
        assert.equal(answer.goneSince, goneSince)
        assert.equal(standIn.arrivals.length - before, requests)
        assert.match(answer.rule, new RegExp(`^${name} ${status}`))
      })
    }
  })

  check('the same user id in two brands is two people', async (stage) => {
    const { service, standIn } = stage
    const [one, two] = [stage.device('1'), stage.device('2')]
    assert.equal(one.userId, two.userId)
    await service.send(pushTo(one, { content: { title: 'for brand 1' } }), contextOf())
    await until(() => standIn.shown(one.token).length === 1, { awaited: 'the notification is shown' })
    assert.equal(standIn.shown(one.token)[0]?.title, 'for brand 1')
    assert.deepEqual(standIn.shown(two.token), [])
  })

  check('a second attempt replaces the notification of the first one', async (stage) => {
    const { service, standIn } = stage
    const push = pushTo(stage.device())
    assert.equal((await service.send(push, contextOf())).category, 'successful')
    assert.equal((await service.send(push, contextOf())).category, 'successful')
    await until(() => standIn.shown(push.device.token)[0]?.replaced === 1, { awaited: 'the notification is replaced' })
    assert.equal(standIn.shown(push.device.token).length, 1)
    assert.equal(acceptedArrivals(stage).length, 2)
  })

  check(
    'if the answer is lost after acceptance, the message is uncertain, and the next attempt replaces the first',
    async (stage) => {
      const { service, standIn } = stage
      const push = pushTo(stage.device())
      standIn.play({ reset: 'after', times: 1 })
      assert.partialDeepStrictEqual(await service.send(push, contextOf()), { category: 'fatal', uncertain: true })
      assert.equal((await service.send(push, contextOf())).category, 'successful')
      await until(() => standIn.shown(push.device.token)[0]?.replaced === 1, {
        awaited: 'the notification is replaced',
      })
      assert.equal(standIn.shown(push.device.token).length, 1)
    },
  )

  check('a send without an answer ends at the deadline, and the message is uncertain', async (stage) => {
    const { service, standIn } = stage
    await service.send(pushTo(stage.device()), contextOf())
    standIn.play({ delayMs: 60_000 })
    const answer = await service.send(pushTo(stage.device()), contextOf(200))
    assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'timeout', uncertain: true })
  })

  check('a send without an answer ends when the process stops, and the message is uncertain', async (stage) => {
    const { service, standIn } = stage
    await service.send(pushTo(stage.device()), contextOf())
    standIn.play({ delayMs: 60_000 })
    const before = standIn.arrivals.length
    const stopping = new AbortController()
    const sending = service.send(pushTo(stage.device()), contextOf(20_000, stopping.signal))
    await until(() => standIn.arrivals.length > before, { awaited: 'the request has arrived' })
    stopping.abort()
    assert.partialDeepStrictEqual(await sending, { category: 'fatal', reason: 'stopping', uncertain: true })
  })

  check('a message that is too large fails and is not sent', async (stage) => {
    const push = pushTo(stage.device(), { content: { title: 'x'.repeat(tooMany) } })
    assert.partialDeepStrictEqual(await stage.service.send(push, contextOf()), {
      category: 'failed',
      reason: 'too_large',
    })
    assert.equal(stage.standIn.arrivals.length, 0)
  })

  check('an expired message fails and is not sent', async (stage) => {
    const push = pushTo(stage.device(), { expiresAt: Date.now() - 1 })
    assert.partialDeepStrictEqual(await stage.service.send(push, contextOf()), {
      category: 'failed',
      reason: 'expired',
    })
    assert.equal(stage.standIn.arrivals.length, 0)
  })

  check('an offline device does not get a message whose lifetime has ended', async (stage) => {
    const { service, standIn } = stage
    const device = stage.device()
    standIn.setOnline(device.token, false)
    assert.equal(
      (await service.send(pushTo(device, { expiresAt: Date.now() + 1_100 }), contextOf())).category,
      'successful',
    )
    // Without the lifetime, the service would store the message for weeks.
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    standIn.setOnline(device.token, true)
    assert.deepEqual(standIn.shown(device.token), [])
  })

  check('no answer contains a token, key or password, even if the server repeats it', async (stage) => {
    const { service, standIn } = stage
    const device = stage.device()
    await service.send(pushTo(device), contextOf())
    const authorization = /^\w+ (?:t=)?([^,]+)/.exec(standIn.arrivals[0]?.headers.authorization ?? '')?.[1] ?? ''
    const answers: DeviceAnswer[] = []
    for (const status of [400, 403, 404, 410, 429, 500, 503, 401]) {
      // After a 401 the service may use a new credential, so it cannot mask the old one in later answers.
      const message = status === 401 ? device.token : `bad ${device.token} ${authorization}`
      const body = JSON.stringify({ error: { message }, reason: device.token })
      const stop = standIn.play({ answer: { status, body } })
      answers.push(await service.send(pushTo(device), contextOf()))
      stop()
    }
    standIn.play({ reset: 'after', times: 1 })
    answers.push(await service.send(pushTo(device), contextOf()))
    const text = JSON.stringify(answers)
    for (const secret of [device.token, authorization, ...stage.secrets])
      if (secret !== '') assert.ok(!text.includes(secret) && !text.includes(JSON.stringify(secret).slice(1, -1)), text)
  })

  check('a closed service sends nothing and leaves no connection open', async (stage) => {
    const { service, standIn } = stage
    const push = pushTo(stage.device())
    await service.send(push, contextOf())
    await service.close?.()
    await standIn.close()
    const answer = await service.send(push, contextOf(2_000)).catch((error: Error) => ({ category: 'fatal', error }))
    assert.equal(answer.category, 'fatal')
    assert.equal((answer as { uncertain?: true }).uncertain, undefined)
  })

  if (!http2) return

  check('a message is not uncertain if the server reports a reset before acceptance', async (stage) => {
    const { service, standIn } = stage
    const push = pushTo(stage.device())
    standIn.play({ reset: 'before', times: 1 })
    const answer = await service.send(push, contextOf())
    // The service sends the message again at once, or leaves it to the next attempt.
    if (answer.category === 'fatal') assert.equal(answer.uncertain, undefined)
    else assert.equal(answer.category, 'successful')
    assert.equal(acceptedArrivals(stage).length, answer.category === 'successful' ? 1 : 0)
  })

  check('over an unreliable connection every message arrives, and again only after a lost answer', async (stage) => {
    const { service, standIn } = stage
    standIn.play({ every: 50, goaway: true })
    standIn.play({ share: 0.01, reset: 'before' })
    standIn.play({ share: 0.01, reset: 'after' })
    const pushes = Array.from({ length: 2_000 }, () => pushTo(stage.device()))
    let uncertain = 0
    const sendAll = async (): Promise<void> => {
      for (let push = pushes.pop(); push; push = pushes.pop()) {
        for (;;) {
          const answer = await service.send(push, contextOf())
          if (answer.category === 'successful') break
          assert.partialDeepStrictEqual(answer, { category: 'fatal', uncertain: true, blame: 'message' })
          uncertain++
        }
        const [shown, ...others] = standIn.shown(push.device.token)
        assert.ok(shown && others.length === 0, 'the device shows one notification')
      }
    }
    await Promise.all(Array.from({ length: 100 }, sendAll))
    const lost = acceptedArrivals(stage).filter(({ status }) => status === 0).length
    assert.ok(lost > 5, `${lost} answers were lost`)
    assert.equal(uncertain, lost)
    assert.equal(acceptedArrivals(stage).length, 2_000 + lost)
  })
}
