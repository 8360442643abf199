// Validates the bodies of the control API.

import {
  checkMembers,
  count,
  fixedAnswer,
  type Member,
  milliseconds,
  oneOf,
  onlyTrue,
} from '../../base/runtime/fault-script.ts'
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

const text: Member = ['a text', (value) => typeof value === 'string' && value !== '']
const boolean: Member = ['true or false', (value) => typeof value === 'boolean']
const service = oneOf(...serviceNames)

const deviceFields: Readonly<Record<string, Member>> = {
  service,
  name: text,
  app: text,
  environment: oneOf('production', 'sandbox'),
  kind: oneOf('fcm_token', 'fcm_fid'),
  online: boolean,
}

const faultFields: Readonly<Record<string, Member>> = {
  service,
  device: ['the id of a device', (value) => Number.isSafeInteger(value)],
  token: text,
  every: count,
  share: ['a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1],
  times: count,
  delayMs: milliseconds,
  reset: oneOf('before', 'after'),
  goaway: onlyTrue,
  answer: fixedAnswer,
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

function check(body: Body, members: Readonly<Record<string, Member>>): void {
  try {
    checkMembers(body, members)
  } catch (error) {
    throw new ControlError(400, (error as Error).message)
  }
  if (body.service === undefined) throw new ControlError(400, `service is missing: expected ${service[0]}`)
}
