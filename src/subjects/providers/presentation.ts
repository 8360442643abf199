// How a device presents a message: sound, badge, category and the like. A platform need not send these fields (§2.1), so the operator
// sets them. Pure.

export interface Presentation {
  /** A sound file of the app, default, or none. Default: default. */
  readonly sound?: string
  /** The number at the icon of the app. */
  readonly badge?: number
  /** iOS: the category, which decides the buttons. */
  readonly category?: string
  /** iOS. Default: active. */
  readonly interruptionLevel?: 'passive' | 'active' | 'time-sensitive'
  readonly androidChannel?: string
  /** Default: high for a message that is shown, normal for any other. */
  readonly androidPriority?: 'normal' | 'high'
  /** Android: a drawable resource. Web Push: an address. */
  readonly icon?: string
  /** The address that a click opens, if the message has none. */
  readonly url?: string
}

/** The presentation of some messages. An absent condition holds for all messages. */
export interface PresentationRule extends Presentation {
  /** Names of push services. */
  readonly services?: readonly string[]
  /** Apps of devices. */
  readonly apps?: readonly string[]
  /** Values of activity.activity_id, as text. */
  readonly activities?: readonly string[]
}

/** The message and the device for which a presentation is searched. */
export interface Presented {
  readonly service: string
  readonly app: string | undefined
  readonly activity: string | null
}

/**
 * Combines all rules that apply. A later rule replaces the fields of an earlier one.
 *
 * @example presentationOf([{ sound: 'a.caf' }, { apps: ['com.example'], badge: 1 }], { service: 'apns', app: 'com.example', activity: '5' })
 * // { sound: 'a.caf', badge: 1 }
 */
export function presentationOf(
  rules: readonly PresentationRule[],
  { service, app, activity }: Presented,
): Presentation {
  const applies = (values: readonly string[] | undefined, value: string | null | undefined): boolean =>
    values === undefined || (typeof value === 'string' && values.includes(value))
  let found: Presentation = {}
  for (const { services, apps, activities, ...presentation } of rules)
    if (applies(services, service) && applies(apps, app) && applies(activities, activity))
      found = { ...found, ...presentation }
  return found
}
