// What every push service must do, against the stand-in of what it speaks to. Each service's own test runs it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import type { PushContent } from '../../src/contract/content.ts'
import type { Device } from '../../src/devices/device.ts'
import type { SendContext } from '../../src/providers/provider.ts'
import type { DeviceAnswer, Push, PushService } from '../../src/providers/push-service.ts'
import type { StandIn } from '../../src/stand-ins/stand-in.ts'
import { until } from '../support/wait.ts'

export interface PushStage {
  readonly service: PushService
  readonly standIn: StandIn
  /** A new device that the service reaches. */
  device(brand?: string): Device
  /** What must never be seen in an answer, beside tokens: keys, passwords. */
  readonly secrets: readonly string[]
}

/** What the other side may answer, and what becomes of the message and of the token. */
export interface Row {
  /** As the table calls it. */
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
  /** What the answer says of the token; absent: nothing, it is kept. */
  readonly token?: 'gone' | 'mismatch'
  readonly goneSince?: number
  /** How many requests it takes to come to this; 1. */
  readonly requests?: number
}

export interface PushFixture {
  readonly name: string
  readonly skip?: string | false
  /** Bytes of text that are certainly too many. */
  readonly tooMany?: number
  /** It speaks HTTP/2, where the other side says which requests it has not looked at. */
  readonly http2?: true
  /** The table of its answers. */
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

export const contextOf = (ms = 10_000, signal: AbortSignal = new AbortController().signal): SendContext => ({
  deadline: Date.now() + ms,
  signal,
})

export function pushServiceSuite({ name, skip = false, tooMany = 5_000, http2, rows, start }: PushFixture): void {
  const check = (title: string, run: (stage: PushStage, t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip, timeout: 30_000 }, async (t) => {
      const stage = await start(t)
      t.after(async () => {
        await stage.service.close?.()
        await stage.standIn.close()
      })
      await run(stage, t)
    })
  }
  const accepted = ({ standIn }: PushStage) => standIn.arrivals.filter(({ accepted }) => accepted)

  check('a device shows what was sent, and the answer has the provider’s identifier', async (stage) => {
    const { service, standIn } = stage
    const device = stage.device()
    assert.equal(service.reaches(device), true)
    const push = pushTo(device)
    const answer = await service.send(push, contextOf())
    assert.partialDeepStrictEqual(answer, { category: 'successful', ref: push.ref })
    assert.equal(answer.token, undefined)
    assert.match(answer.category === 'successful' ? (answer.providerId ?? '') : '', /./)
    await until(() => standIn.shown(device.token).length === 1, { awaited: 'shown' })
    const [shown] = standIn.shown(device.token)
    assert.partialDeepStrictEqual(shown, {
      title: 'Hello',
      body: 'You have a bonus',
      url: 'https://example.com/b',
      replaced: 0,
    })
    assert.partialDeepStrictEqual(shown?.data, { push_id: push.ref, n: '1' })
  })

  check('every row of the table of its answers', async ({ service, standIn, device }, t) => {
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

  check('the same user id of two brands is two people', async (stage) => {
    const { service, standIn } = stage
    const [one, two] = [stage.device('1'), stage.device('2')]
    assert.equal(one.userId, two.userId)
    await service.send(pushTo(one, { content: { title: 'for brand 1' } }), contextOf())
    await until(() => standIn.shown(one.token).length === 1, { awaited: 'shown' })
    assert.equal(standIn.shown(one.token)[0]?.title, 'for brand 1')
    assert.deepEqual(standIn.shown(two.token), [])
  })

  check('a second attempt of the same message is shown once', async (stage) => {
    const { service, standIn } = stage
    const push = pushTo(stage.device())
    assert.equal((await service.send(push, contextOf())).category, 'successful')
    assert.equal((await service.send(push, contextOf())).category, 'successful')
    await until(() => standIn.shown(push.device.token)[0]?.replaced === 1, { awaited: 'shown anew' })
    assert.equal(standIn.shown(push.device.token).length, 1)
    assert.equal(accepted(stage).length, 2)
  })

  check(
    'an answer lost after the acceptance is uncertain, and the next attempt is not seen as a second message',
    async (stage) => {
      const { service, standIn } = stage
      const push = pushTo(stage.device())
      standIn.play({ reset: 'after', times: 1 })
      assert.partialDeepStrictEqual(await service.send(push, contextOf()), { category: 'fatal', uncertain: true })
      assert.equal((await service.send(push, contextOf())).category, 'successful')
      await until(() => standIn.shown(push.device.token)[0]?.replaced === 1, { awaited: 'shown anew' })
      assert.equal(standIn.shown(push.device.token).length, 1)
    },
  )

  check('a reset before the acceptance is not uncertain where the other side says so', async (stage) => {
    const { service, standIn } = stage
    const push = pushTo(stage.device())
    standIn.play({ reset: 'before', times: 1 })
    const answer = await service.send(push, contextOf())
    // Sent again at once, or left to the next attempt: never twice, and never in doubt.
    if (answer.category === 'fatal') assert.equal(answer.uncertain, undefined)
    else assert.equal(answer.category, 'successful')
    assert.equal(accepted(stage).length, answer.category === 'successful' ? 1 : 0)
  })

  check('it answers by the deadline, whatever the other side does', async (stage) => {
    const { service, standIn } = stage
    await service.send(pushTo(stage.device()), contextOf())
    standIn.play({ delayMs: 60_000 })
    const answer = await service.send(pushTo(stage.device()), contextOf(200))
    assert.partialDeepStrictEqual(answer, { category: 'fatal', reason: 'timeout', uncertain: true })
  })

  check('it gives up when it is told to', async (stage) => {
    const { service, standIn } = stage
    await service.send(pushTo(stage.device()), contextOf())
    standIn.play({ delayMs: 60_000 })
    const before = standIn.arrivals.length
    const stopping = new AbortController()
    const sending = service.send(pushTo(stage.device()), contextOf(20_000, stopping.signal))
    await until(() => standIn.arrivals.length > before, { awaited: 'arrived' })
    stopping.abort()
    assert.partialDeepStrictEqual(await sending, { category: 'fatal', reason: 'stopping', uncertain: true })
  })

  check('what is too large fails before it is sent', async (stage) => {
    const push = pushTo(stage.device(), { content: { title: 'x'.repeat(tooMany) } })
    assert.partialDeepStrictEqual(await stage.service.send(push, contextOf()), {
      category: 'failed',
      reason: 'too_large',
    })
    assert.equal(stage.standIn.arrivals.length, 0)
  })

  check('what has expired fails before it is sent', async (stage) => {
    const push = pushTo(stage.device(), { expiresAt: Date.now() - 1 })
    assert.partialDeepStrictEqual(await stage.service.send(push, contextOf()), {
      category: 'failed',
      reason: 'expired',
    })
    assert.equal(stage.standIn.arrivals.length, 0)
  })

  check('a message carries its lifetime: a device that is away for longer does not get it', async (stage) => {
    const { service, standIn } = stage
    const device = stage.device()
    standIn.setOnline(device.token, false)
    assert.equal(
      (await service.send(pushTo(device, { expiresAt: Date.now() + 1_100 }), contextOf())).category,
      'successful',
    )
    // The service itself would keep it for weeks.
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    standIn.setOnline(device.token, true)
    assert.deepEqual(standIn.shown(device.token), [])
  })

  check('no token, key or password is in any answer, even where the other side repeats it', async (stage) => {
    const { service, standIn } = stage
    const device = stage.device()
    await service.send(pushTo(device), contextOf())
    const authorization = standIn.arrivals[0]?.headers.authorization?.split(' ').pop() ?? ''
    const answers: DeviceAnswer[] = []
    for (const status of [400, 403, 404, 410, 429, 500, 503, 401]) {
      // After a 401 another credential may be tried, and the service cannot know who repeats the old one.
      const message = status === 401 ? device.token : `bad ${device.token} ${authorization}`
      const body = JSON.stringify({ error: { message }, reason: device.token })
      const stop = standIn.play({ answer: { status, body } })
      answers.push(await service.send(pushTo(device), contextOf()))
      stop()
    }
    standIn.play({ reset: 'after', times: 1 })
    answers.push(await service.send(pushTo(device), contextOf()))
    const said = JSON.stringify(answers)
    for (const secret of [device.token, authorization, ...stage.secrets])
      if (secret !== '') assert.ok(!said.includes(secret) && !said.includes(JSON.stringify(secret).slice(1, -1)), said)
  })

  check('closed, it sends nothing more and holds nothing open', async (stage) => {
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

  check('on a rough way every message arrives, and a second time only where the answer was lost', async (stage) => {
    const { service, standIn } = stage
    standIn.play({ every: 50, goaway: true })
    standIn.play({ share: 0.01, reset: 'before' })
    standIn.play({ share: 0.01, reset: 'after' })
    const pushes = Array.from({ length: 2_000 }, () => pushTo(stage.device()))
    let uncertain = 0
    const one = async (): Promise<void> => {
      for (let push = pushes.pop(); push; push = pushes.pop()) {
        for (;;) {
          const answer = await service.send(push, contextOf())
          if (answer.category === 'successful') break
          assert.partialDeepStrictEqual(answer, { category: 'fatal', uncertain: true, blame: 'message' })
          uncertain++
        }
        const [shown, ...others] = standIn.shown(push.device.token)
        assert.ok(shown && others.length === 0, 'shown once')
      }
    }
    await Promise.all(Array.from({ length: 100 }, one))
    const lost = accepted(stage).filter(({ status }) => status === 0).length
    assert.ok(lost > 5, `${lost} answers were lost`)
    assert.equal(uncertain, lost)
    assert.equal(accepted(stage).length, 2_000 + lost)
  })
}
