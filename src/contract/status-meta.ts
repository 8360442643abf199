// Row 25: the data that returns to the platform with each status, so that it counts a conversion for the right message.

/** The parts of `meta`, each as JSON text; undefined: not sent. */
export interface MetaParts {
  /** The object `activity` of the request. */
  readonly activity: string
  /** An object with the tracking headers of a single request. */
  readonly headers: string | undefined
  /** The member `meta` of the request. */
  readonly meta: string | undefined
}

/**
 * Joins the parts as text, so that each comes back byte for byte: long integers keep their digits, and objects their order and
 * their white space.
 *
 * @example statusMeta({ activity: '{"id":7}', headers: undefined, meta: '{"a": 1}' }) // '{"activity":{"id":7},"meta":{"a": 1}}'
 */
export function statusMeta({ activity, headers, meta }: MetaParts): string {
  const ofHeaders = headers === undefined ? '' : `,"headers":${headers}`
  const ofBody = meta === undefined ? '' : `,"meta":${meta}`
  return `{"activity":${activity}${ofHeaders}${ofBody}}`
}
