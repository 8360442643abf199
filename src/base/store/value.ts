export type Value = string | number | null
export type ColumnType = 'text' | 'bigint'
