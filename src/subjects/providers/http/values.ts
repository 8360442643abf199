// The values of the placeholders of a template. Pure.

import type { Content } from '../../../contract/content.ts'
import type { Activity } from '../../../contract/read-activity.ts'
import type { FindValue, Value } from './template.ts'

/** The subject of a request: a message for its user, a message for one device, or a delivery status. */
export type Mode = 'user' | 'device' | 'status'

const always = [
  'user_id',
  'brand',
  'push_id',
  'delivery_id',
  'title',
  'body',
  'image_url',
  'url',
  'data',
  'expires_at',
  'expires_at_seconds',
  'ttl_seconds',
] as const
const ofUser = [
  'activity.id',
  'activity.brand_id',
  'activity.user_id',
  'activity.activity_id',
  'activity.action_group_id',
  'activity.trigger_hash',
  'activity.action_id',
] as const
const ofDevice = ['token', 'app'] as const
const ofStatus = [
  'push_id',
  'channel',
  'status',
  'timestamp',
  'timestamp_seconds',
  'brand',
  'user_id',
  'activity',
  'headers',
  'meta',
  'conversion_keys',
] as const

/** The names of all placeholders, except secrets. */
export const placeholders: { readonly [M in Mode]: readonly string[] } = {
  user: [...always, ...ofUser],
  device: [...always, ...ofDevice],
  status: [...ofStatus, ...ofUser],
}

/** The content of one request: a message for a user, or for one of the user's devices. */
export interface Delivery {
  readonly ref: string
  /** Identifies the request to the provider: the ref, or in device mode an id derived from ref and token. Constant on retries. */
  readonly deliveryId: string
  readonly brand: string
  /** The provider's id of the user. */
  readonly userId: string
  readonly content: Content
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly token?: string
  readonly app?: string
  readonly activity?: Activity
}

/** @param now epoch milliseconds */
export function valuesOf(delivery: Delivery, now: number): FindValue {
  const { content, activity, expiresAt } = delivery
  const ofActivity = activityValues(activity)
  return (name) => {
    switch (name) {
      case 'user_id':
        return text(delivery.userId)
      case 'brand':
        return digits(delivery.brand)
      case 'push_id':
        return text(delivery.ref)
      case 'delivery_id':
        return text(delivery.deliveryId)
      case 'token':
        return text(delivery.token)
      case 'app':
        return text(delivery.app)
      case 'title':
      case 'body':
      case 'image_url':
      case 'url':
        return text(content[name])
      case 'data':
        return digits(content.data)
      case 'expires_at':
        return text(new Date(expiresAt).toISOString())
      case 'expires_at_seconds':
        return digits(String(Math.floor(expiresAt / 1000)))
      case 'ttl_seconds':
        return digits(String(Math.max(0, Math.floor((expiresAt - now) / 1000))))
      default:
        return ofActivity(name)
    }
  }
}

/** The values of the fields of an activity record. */
export function activityValues(activity: Activity | undefined): FindValue {
  return (name) => {
    switch (name) {
      case 'activity.id':
        return activity && { json: activity.idJson, text: activity.id }
      case 'activity.brand_id':
        return digits(activity?.brandId)
      case 'activity.user_id':
        return text(activity?.userId)
      case 'activity.activity_id':
        return digits(activity?.activityId)
      case 'activity.action_group_id':
        return digits(activity?.actionGroupId)
      case 'activity.trigger_hash':
        return text(activity?.triggerHash)
      case 'activity.action_id':
        return digits(activity?.actionId)
      default:
        return undefined
    }
  }
}

export function text(value: string | null | undefined): Value | undefined {
  return value === undefined || value === null ? undefined : { json: JSON.stringify(value), text: value }
}

/** JSON text that is used unchanged, so that numbers keep all their digits. */
export function digits(json: string | null | undefined): Value | undefined {
  return json === undefined || json === null ? undefined : { json, text: json }
}
