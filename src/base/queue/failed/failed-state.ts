/** The states of a failed item, as they are stored. */
export const failedState = { pending: 0, dismissed: 1, replayed: 2 } as const

export type FailedState = keyof typeof failedState

export const failedStates = ['pending', 'dismissed', 'replayed'] as const satisfies readonly FailedState[]
