// Makes the Markdown table of all answers of push services with their outcomes. `node test/providers/answers-table.ts --write`
// puts it into docs/push.md. The rows come from the functions that read answers, not from the expectations of the tests.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isProvenDead, resolveEvidence } from '../../src/subjects/delivery/token-proof.ts'
import { judgeApns } from '../../src/subjects/providers/apns/answer.ts'
import { judgeFcm } from '../../src/subjects/providers/fcm/answer.ts'
import { decide, rulesOf } from '../../src/subjects/providers/http/rules.ts'
import { readAnswer } from '../../src/subjects/providers/http/verdict.ts'
import type { DeviceAnswer } from '../../src/subjects/providers/push-service.ts'
import { readWebPushAnswer } from '../../src/subjects/providers/web-push/read-answer.ts'
import { apnsRows } from './apns-rows.ts'
import { fcmRows } from './fcm-rows.ts'
import { httpRows, rowRules } from './http-rows.ts'
import { webPushRows } from './web-push-rows.ts'

interface Answered {
  readonly row: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}
type Read = (answered: Required<Answered>) => DeviceAnswer

const now = Date.parse('2026-01-31T10:00:00Z')
const linkedAt = '2020-01-01T00:00:00Z'
const rules = rulesOf(rowRules)

const services: readonly (readonly [name: string, rows: readonly Answered[], read: Read])[] = [
  ['fcm', fcmRows, ({ status, headers, body }) => judgeFcm(status, headers, body, now).answer],
  ['apns', apnsRows, ({ status, headers, body }) => judgeApns(status, headers, body, now).answer],
  ['web-push', webPushRows, ({ status, headers, body }) => readWebPushAnswer(status, headers, body, now)],
  ['http', httpRows, readHttp],
]

function readHttp({ status, headers, body }: Required<Answered>): DeviceAnswer {
  const json = parsed(body)
  return readAnswer({
    name: 'http',
    mode: 'device',
    decided: decide(rules, status, json),
    proven: true,
    status,
    json,
    text: body,
    hide: (text) => text,
    retryAfterMs: headers['retry-after'] === undefined ? undefined : Number(headers['retry-after']) * 1000,
    idPath: undefined,
    ref: 'ref',
  })
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** One line for the answers of a service that have the same effect. */
export function answersTable(): string[] {
  return [
    '| service | answers | outcome | token | pauses | before the first accepted send there |',
    '|---|---|---|---|---|---|',
    ...services.flatMap(([name, rows, read]) => {
      const byEffect = Map.groupBy(rows, (each) => effectOf(read({ headers: {}, ...each })))
      return [...byEffect].map(([effect, same]) => `| ${name} | ${same.map(({ row }) => row).join('; ')} | ${effect} |`)
    }),
  ]
}

function effectOf(answer: DeviceAnswer): string {
  const proven = resolveEvidence(answer, { counterpart: true, service: true })
  const unproven = resolveEvidence(answer, { counterpart: false, service: false })
  const [after, before] = [proven, unproven].map((each) => [outcomeOf(each), tokenOf(each), pauseOf(each)])
  const same = String(after) === String(before)
  return `${after?.join(' | ')} | ${same ? 'the same' : before?.filter(Boolean).join(', ')}`
}

const tokenOf = (answer: DeviceAnswer): string => (isProvenDead(answer, linkedAt) ? 'unlinked' : 'kept')

/** After several such answers in a row, or one with Retry-After. */
function pauseOf(answer: DeviceAnswer): string {
  if (answer.category !== 'fatal' || answer.blame !== 'provider') return ''
  return answer.concerns === 'counterpart' ? 'the counterpart' : 'the service'
}

function outcomeOf(answer: DeviceAnswer): string {
  if (answer.category === 'successful') return 'successful'
  const uncertain = answer.category === 'fatal' && answer.uncertain ? ', uncertain' : ''
  return `${answer.category}: ${answer.reason.replaceAll('_', ' ')}${uncertain}`
}

export const document = join(import.meta.dirname, '../../docs/push.md')
const begin = '<!-- answers of push services: written by `node test/providers/answers-table.ts --write` -->'
const end = '<!-- end of answers -->'

/** Replaces the table in the document. */
export function withAnswers(text: string): string {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the document lacks the lines ${begin} and ${end}`)
  return `${text.slice(0, from)}${begin}\n\n${answersTable().join('\n')}\n\n${text.slice(to)}`
}

if (import.meta.main && process.argv.includes('--write'))
  writeFileSync(document, withAnswers(readFileSync(document, 'utf8')))
