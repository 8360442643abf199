// A page of the console, and an act that a page offers.

import type { AccessKey } from '../../base/http/access.ts'
import type { Side } from '../../base/http/http.ts'
import type { RouteName, SideName } from '../admin/calls.ts'
import type { CallRoute } from './call-route.ts'
import type { Html } from './html.ts'
import type { Watch } from './watch.ts'

export type AnyRouteName = RouteName<SideName>

/** One look at a page. */
export interface Visit {
  readonly side: Side
  readonly key: AccessKey
  /** The GET parameters and the parameters of the path; empty ones are left out. */
  readonly query: Readonly<Record<string, string>>
  readonly csrf: string
  /** The fields of the form whose act was refused: the form is shown again with them. */
  readonly refused?: Fields
  readonly watch: Watch
  /** Whether this side has the route, and the key its scope. */
  can(route: AnyRouteName): boolean
  /** The member of the route that stores a reason for the next person. */
  reasonMember(route: AnyRouteName): 'reason' | 'note' | undefined
  readonly call: CallRoute
  /** Calls /admin of the other side. Absent: its address is not known. */
  readonly callOther?: CallRoute | undefined
  /** The address of a page. @example visit.link('/lane', { name: '1/push' }) */
  link(path: string, parameters?: Readonly<Record<string, string | number | undefined>>): string
}

export interface Page {
  /** Below /console. */
  readonly path: string
  readonly title: string
  /** The page is shown if the side has this route, and the key its scope. */
  readonly needs: AnyRouteName
  /** Its place in the navigation, with the letter that follows `g`. */
  readonly letter?: string
  /** The page of the navigation to which this page belongs. */
  readonly within?: string
  /** The part that does not change by itself, such as a form. It is above the live part. */
  readonly still?: (visit: Visit) => Promise<Html> | Html
  /** The part that is shown again each second while somebody looks. */
  readonly live?: (visit: Visit) => Promise<Html>
}

/** The fields of a form. */
export type Fields = Readonly<Record<string, string>>

/** A change, which first asks with its effect. */
export interface Act {
  /** Below /console. GET asks, POST acts. */
  readonly path: string
  readonly needs: AnyRouteName
  /** What the button says. @example 'Pause lane' */
  readonly title: string
  /** Nobody can undo it. */
  readonly isFinal?: true
  /** The effect with its count, and the fields that the person may change. The GET parameters are sent with the form. */
  ask(visit: Visit): Promise<Question>
  act(visit: Visit, fields: Fields): Promise<Done>
  /** The effect. @example done(50) // '50 messages are replayed.' */
  done(count: number): string
}

export interface Question {
  /** Above the form, such as a filter. */
  readonly before?: Html
  /** @example '201 messages wait in lane 1/push. Running calls end; no other call starts.' */
  readonly effect: Html
  readonly fields?: Html
  /** Why nothing would change, in place of the effect: there is no button. */
  readonly none?: string | false
  readonly back: string
}

export interface Done {
  /** The page that shows the effect. */
  readonly to: string
  /** How many things changed. */
  readonly count: number
}
