/** What a lane's owner listens to: something was put, or a person decided. */
export const laneTopic = (lane: string): string => `lane ${lane}`
