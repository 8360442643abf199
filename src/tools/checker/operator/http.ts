// §4: content types, headers and other properties of HTTP.

import { gzipSync } from 'node:zlib'
import { trackingHeaders } from '../../../contract/endpoints.ts'
import { type Check, checkOf, decision, must, should } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import { delivered, isSuccess, refusesWith } from '../read-answer.ts'
import type { Sender } from '../sender.ts'
import { answerOf, expect, expectAnswer, shownAnswer } from '../verdict.ts'
import { compare, expectAccepted } from './special-message.ts'

const withType = (type: string) =>
  compare(({ single, make }) => single(`Content-Type: ${type}`, make.message(), { headers: { 'content-type': type } }))

const charset = withType('application/json; charset=utf-8')
const otherType = withType('text/plain')

const chunked = compare(({ single, make }) => single('a body in chunks', make.message(), { chunked: true }))

const tracking = compare(({ single, make }) => {
  const headers = Object.fromEntries(trackingHeaders.map((name) => [name, `bellwire-check-${make.mark}`]))
  return single('a message with the tracking headers', make.message(), { headers })
})

const compressed = {
  scope: 'single',
  messages: 1,
  run: async (sender: Sender) => {
    const { text } = sender.make.message()
    const headers = { 'content-encoding': 'gzip' }
    return sender.send('a body compressed with gzip', text, { headers, bytes: gzipSync(text), messages: 1 })
  },
} as const

const otherMethod = {
  scope: 'endpoint',
  messages: 0,
  run: (sender: Sender) => sender.send('GET in place of POST', '', { method: 'GET' }),
} as const

const requestUnknownPath = ({ request, target }: Sender, special = {}): Promise<Exchange> =>
  request({ label: 'a path that does not exist', path: `/channels/${target.channel}/none`, body: '{}', ...special })

const unknownPath = {
  scope: 'single',
  messages: 0,
  run: (sender: Sender) => requestUnknownPath(sender),
} as const

/** Sends a message after each kind of refused request, on the connection of that request. */
const keepAlive = {
  scope: 'send',
  messages: 5,
  run: async (sender: Sender) => {
    const refusals: readonly ((together: symbol) => Promise<Exchange>)[] = [
      (together) => sender.one('a wrong key', { key: 'other', together }),
      (together) => sender.send('a body that is not JSON', '{"activity"', { together }),
      (together) => requestUnknownPath(sender, { together }),
    ]
    const ordinary = await sender.one('an ordinary message')
    const pairs: { refused: Exchange; next: Exchange }[] = []
    for (const refuse of refusals) {
      const together = Symbol('one connection')
      const refused = await refuse(together)
      const next = await sender.one(`a message on the connection of: ${refused.label}`, { together })
      pairs.push({ refused, next })
    }
    return { ordinary, pairs }
  },
} as const

export const httpChecks: readonly Check[] = [
  checkOf(keepAlive, {
    ...should('http.keep-alive', '§4'),
    title: 'After a refused request, the connection can be used again, or it is closed.',
    consequence:
      'The rest of the refused body is taken for the next request: a message that has no fault is refused and dropped, or repeated without end.',
    remedy:
      'Read the whole body before you answer, also if you refuse the request. If you do not read it, answer Connection: close, and close the connection.',
    judge: ({ ordinary, pairs }) => {
      delivered(ordinary)
      for (const { refused, next } of pairs) {
        // Other checks judge a refused request without an answer.
        if (!refused.answer) continue
        expectAnswer(next, isSuccess)
      }
    },
  }),
  checkOf(charset, {
    ...must('http.charset', '§4'),
    title: 'The content type may have a charset: application/json; charset=utf-8.',
    consequence: 'Many HTTP clients add the charset. All their messages are refused and dropped.',
    remedy: 'Compare only the media type, without its parameters.',
    judge: expectAccepted,
  }),
  checkOf(otherType, {
    ...decision('http.other-type', '§4', 45),
    title: 'A JSON body with the content type text/plain is accepted.',
    consequence: 'A mislabelled message goes into Failed Actions, although it could be delivered.',
    remedy: 'Read every body as JSON, whatever its content type.',
    judge: expectAccepted,
  }),
  checkOf(chunked, {
    ...should('http.chunked', '§4'),
    title: 'A body in chunks, without Content-Length, is accepted.',
    consequence: 'Clients that stream their bodies are refused, and their messages are dropped.',
    remedy: 'Accept Transfer-Encoding: chunked, as HTTP/1.1 requires; check the settings of your proxy.',
    judge: expectAccepted,
  }),
  checkOf(tracking, {
    ...should('http.tracking', '§2.1', 49),
    vendor: true,
    title: 'A message with the vendor’s tracking headers is accepted.',
    consequence: 'The vendor’s platform sends them with every request: all its messages are refused.',
    remedy:
      'Accept X-Fasttrack-Id, -Triggerhash, -Activityid, -Actionid, -Actiongroupid and -Actioncommunicationprofileid. Store them to return them with later events.',
    judge: expectAccepted,
  }),
  checkOf(compressed, {
    ...decision('http.compressed', '§4', 32),
    title: 'A body that is compressed with gzip is refused with 415, or accepted.',
    consequence:
      'With 400 the message goes into Failed Actions with a misleading reason; with 5xx it is repeated without end.',
    remedy: 'Answer 415 {"error": "…"} to a Content-Encoding that you do not support.',
    judge: (exchange: Exchange) => {
      const answer = answerOf(exchange)
      expect(isSuccess(answer) || refusesWith(415, answer), shownAnswer(answer))
    },
  }),
  checkOf(otherMethod, {
    ...decision('http.method', '§4.1', 45),
    title: 'GET at an endpoint is answered 405, and the header Allow names POST.',
    consequence: 'A wrong method in a configuration looks like a wrong address.',
    remedy: 'Answer 405 with Allow: POST.',
    judge: (exchange) => {
      const answer = answerOf(exchange)
      const { allow } = answer.headers
      expect(answer.status === 405, shownAnswer(answer))
      expect(/\bPOST\b/.test(allow ?? ''), allow === undefined ? 'No header Allow.' : `Allow: ${allow}`)
    },
  }),
  checkOf(unknownPath, {
    ...decision('http.path', '§4.1', 45),
    title: 'An unknown path below the channel is answered 404 with a text as error.',
    consequence: 'A wrong address looks like a refused message, or like a success.',
    remedy: 'Answer 404 {"error": "…"}.',
    judge: (exchange) => {
      const answer = answerOf(exchange)
      expect(refusesWith(404, answer), shownAnswer(answer))
    },
  }),
]
