// The interface between an operator and a platform, as data and pure functions. Code in this folder reads no clock, disk or
// network, and imports nothing from the rest of the project.

export * from './answer.ts'
export * from './content.ts'
export * from './endpoints.ts'
export * from './message-key.ts'
export * from './outcome.ts'
export * from './read-activity.ts'
export * from './records.ts'
