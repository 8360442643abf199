// The topics that wake the owner of a lane.

/** An item was enqueued. */
export const laneTopic = (lane: string): string => `lane ${lane}`

/** A transactional item was enqueued. */
export const transactionalTopic = (lane: string): string => `transactional ${lane}`

/** A person replayed failed items. */
export const replayTopic = (lane: string): string => `replay ${lane}`

/** A process has changed the list of the lanes that it serves, or has released lanes. */
export const divisionTopic = 'lanes'

/** A control of this scope was set or ended. */
export const controlTopic = (scope: string): string => `control ${scope}`
