type Present<Members> = { [Name in keyof Members]?: NonNullable<Members[Name]> }

/** The members that are neither undefined nor null. @example present({ activity: '7', action: undefined }) // { activity: '7' } */
export const present = <Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Present<Members>
