type Present<Members> = { [Name in keyof Members]?: NonNullable<Members[Name]> }

/** The members that are neither undefined nor null. @example present({ activity: '7', action: undefined }) // { activity: '7' } */
export const present = <Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Present<Members>

/**
 * The given members, and defaults for the others. An undefined member is not given: TypeScript accepts it in an option, unless
 * `exactOptionalPropertyTypes` is set.
 *
 * @example withDefaults({ max: 5, ms: 100 }, { max: 1, ms: undefined }) // { max: 1, ms: 100 }
 */
export const withDefaults = <Members extends object>(
  defaults: Members,
  given: { readonly [Name in keyof Members]?: Members[Name] | undefined } | undefined,
): Members => ({ ...defaults, ...present(given ?? {}) })
