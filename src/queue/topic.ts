// The wake-up topics of a lane's owner.

/** Something was put, or a person resumed the lane. */
export const laneTopic = (lane: string): string => `lane ${lane}`

/** Something that had failed waits again. */
export const replayTopic = (lane: string): string => `replay ${lane}`
