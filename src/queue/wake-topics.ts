// The topics that wake the owner of a lane.

/** An item was enqueued, or a person resumed the lane. */
export const laneTopic = (lane: string): string => `lane ${lane}`

/** A person replayed failed items. */
export const replayTopic = (lane: string): string => `replay ${lane}`
