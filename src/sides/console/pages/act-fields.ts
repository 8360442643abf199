// The fields that several acts ask for, and the links that offer acts.

import { buttons, type Html, html, input, type Link, select } from '../html.ts'
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

/** A field of an act. After a refusal it has the text that the person typed. */
export const actInput = ({ refused }: Visit, label: string, name: string, value = '', attributes: Html = ''): Html =>
  input(label, name, refused?.[name] ?? value, attributes)

/** A choice of an act. After a refusal it has the option that the person chose. */
export const actSelect = (
  { refused }: Visit,
  label: string,
  name: string,
  options: Parameters<typeof select>[2],
  chosen = '',
): Html => select(label, name, options, refused?.[name] ?? chosen)

const ends = [
  ['', 'never: until a person ends it'],
  ['900', 'after 15 minutes'],
  ['3600', 'after 1 hour'],
  ['14400', 'after 4 hours'],
  ['86400', 'after 1 day'],
  ['604800', 'after 7 days'],
] as const

/** Asks how long a change lasts. */
export const endField = (visit: Visit): Html => actSelect(visit, 'Ends by itself', 'for_seconds', ends)

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
