const permission = 'make the user who runs Bellwire its owner, or a member of its group, and let that user read it'

/** The remedy for a file that cannot be read: that of a missing permission, or `otherwise`. */
export const fileRemedy = (error: unknown, otherwise: string): string =>
  ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '') ? permission : otherwise
