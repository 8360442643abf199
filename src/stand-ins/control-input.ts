// Validates the bodies of the control API. Unknown members are refused: with a misspelt fault, a test would prove nothing.

import { type DeviceRequest, type ServiceName, serviceNames } from './all.ts'
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
const boolean: Field = ['true or false', (value) => typeof value === 'boolean']
const count: Field = ['a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) > 0]
const oneOf = (...words: readonly string[]): Field => [
  `one of ${words.join(', ')}`,
  (value) => words.includes(value as string),
]
const service = oneOf(...serviceNames)

const deviceFields: Readonly<Record<string, Field>> = {
  service,
  name: text,
  app: text,
  environment: oneOf('production', 'sandbox'),
  kind: oneOf('fcm_token', 'fcm_fid'),
  online: boolean,
}

const faultFields: Readonly<Record<string, Field>> = {
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
export function readDeviceRequest(body: Body): DeviceRequest {
  check(body, deviceFields)
  return body as unknown as DeviceRequest
}

/** @throws ControlError */
export function readFault(
  body: Body,
  tokenOf: (device: number) => string,
): { readonly service: ServiceName; readonly fault: Fault } {
  check(body, faultFields)
  const { service, device, ...fault } = body
  const token = device === undefined ? {} : { token: tokenOf(device as number) }
  return { service: service as ServiceName, fault: { ...(fault as Fault), ...token } }
}

function check(body: Body, fields: Readonly<Record<string, Field>>): void {
  for (const [name, value] of Object.entries(body)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) throw new ControlError(400, `${name} is unknown; known are ${Object.keys(fields).join(', ')}`)
    if (!field[1](value)) throw new ControlError(400, `${name} must be ${field[0]}`)
  }
  if (body.service === undefined) throw new ControlError(400, `service is missing: expected ${service[0]}`)
}

function isAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { status, headers = {}, body = '', ...others } = value as Body
  const validHeaders =
    typeof headers === 'object' && headers !== null && Object.values(headers).every((one) => typeof one === 'string')
  const validStatus = Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599
  return validStatus && validHeaders && typeof body === 'string' && Object.keys(others).length === 0
}
