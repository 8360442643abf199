// What may be asked of the control API, read strictly: a typing error in a fault would otherwise be a test that proves nothing.

import { type DeviceWish, type ServiceName, serviceNames } from './all.ts'
import type { Fault } from './faults.ts'

export class ControlError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type Body = Readonly<Record<string, unknown>>
type Field = readonly [expected: string, is: (value: unknown) => boolean]

const text: Field = ['a text', (value) => typeof value === 'string' && value !== '']
const yesNo: Field = ['true or false', (value) => typeof value === 'boolean']
const count: Field = ['a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0]
const oneOf = (...words: readonly string[]): Field => [
  `one of ${words.join(', ')}`,
  (value) => words.includes(value as string),
]
const service = oneOf(...serviceNames)

const ofDevice: Readonly<Record<string, Field>> = {
  service,
  name: text,
  app: text,
  environment: oneOf('production', 'sandbox'),
  kind: oneOf('fcm_token', 'fcm_fid'),
  online: yesNo,
}

const ofFault: Readonly<Record<string, Field>> = {
  service,
  device: ['the id of a device', (value) => Number.isSafeInteger(value)],
  token: text,
  every: count,
  share: ['a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1],
  times: count,
  delayMs: ['milliseconds', (value) => typeof value === 'number' && value >= 0],
  reset: oneOf('before', 'after'),
  goaway: ['true', (value) => value === true],
  answer: ['{"status": …, "headers"?: {…}, "body"?: "…"}', isAnswer],
}

/** @throws ControlError */
export function readWish(body: Body): DeviceWish {
  check(body, ofDevice)
  return body as unknown as DeviceWish
}

/** @throws ControlError */
export function readFault(
  body: Body,
  tokenOf: (device: number) => string,
): { readonly service: ServiceName; readonly fault: Fault } {
  check(body, ofFault)
  const { service, device, ...fault } = body
  const token = device === undefined ? {} : { token: tokenOf(device as number) }
  return { service: service as ServiceName, fault: { ...(fault as Fault), ...token } }
}

function check(body: Body, fields: Readonly<Record<string, Field>>): void {
  for (const [name, value] of Object.entries(body)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) throw new ControlError(400, `there is no ${name} here: there are ${Object.keys(fields).join(', ')}`)
    if (!field[1](value)) throw new ControlError(400, `${name} must be ${field[0]}`)
  }
  if (body.service === undefined) throw new ControlError(400, `service is missing: ${service[0]}`)
}

function isAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { status, headers = {}, body = '', ...more } = value as Body
  const texts =
    typeof headers === 'object' && headers !== null && Object.values(headers).every((one) => typeof one === 'string')
  const known = Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599
  return known && texts && typeof body === 'string' && Object.keys(more).length === 0
}
