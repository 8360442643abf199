// The fields that several acts ask for, and the links that offer acts.

import { buttons, type Html, html, type Link } from '../html.ts'
import type { AnyRouteName, Fields, Visit } from '../page.ts'

/** The links that this key may follow, as buttons. @param all each with the route that it needs */
export const offers = ({ can }: Visit, all: readonly (readonly [needs: AnyRouteName, ...Link])[]): Html =>
  buttons(all.filter(([needs]) => can(needs)).map(([, to, says]) => [to, says]))

/** Asks why, if the route stores it. */
export function reasonField(visit: Visit, route: AnyRouteName): Html {
  const name = visit.reasonMember(route)
  return name === undefined
    ? ''
    : html`<label>Reason, for the next person<textarea name="${name}" rows="2" maxlength="500" required>${visit.refused?.[name] ?? ''}</textarea></label>`
}

/** The reason of a form, for the body of the route. The route itself refuses an empty one. */
export function reasonOf<Name extends 'reason' | 'note' = 'reason'>(
  visit: Visit,
  route: AnyRouteName,
  fields: Fields,
): { readonly [Each in Name]: string } {
  const name = visit.reasonMember(route)
  return (name === undefined ? {} : { [name]: fields[name] ?? '' }) as { readonly [Each in Name]: string }
}

/** Asks how long a change lasts. */
export const endField = html`<label>Ends by itself<select name="for_seconds"><option value="">never: until a person ends it</option><option value="900">after 15 minutes</option><option value="3600">after 1 hour</option><option value="14400">after 4 hours</option><option value="86400">after 1 day</option><option value="604800">after 7 days</option></select></label>`

export const endOf = ({ for_seconds: seconds }: Fields): { readonly for_seconds?: number } =>
  seconds === undefined ? {} : { for_seconds: Number(seconds) }

/** The named fields that are given. */
export const pick = <Name extends string>(
  fields: Fields,
  names: readonly Name[],
): { readonly [Each in Name]?: string } =>
  Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]])) as {
    readonly [Each in Name]?: string
  }
