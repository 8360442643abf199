export type Value = string | number | null
