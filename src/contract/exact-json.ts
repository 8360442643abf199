// JSON.parse rounds integers above 2^53. Here such a number keeps its source text, as JSON.rawJSON, so JSON.stringify writes it unchanged.

const { rawJSON: rawJson, isRawJSON: isRawJson } = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}

export { isRawJson }

/** Parses JSON. A number that JavaScript would write differently becomes JSON.rawJSON. The reviver costs a call per value. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, keepDigits as (this: unknown, key: string, value: unknown) => unknown)
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value !== 'number' || source === undefined || String(value) === source ? value : rawJson(source)
}

/** The digits of a number that parseExactly() returned; undefined for any other value. */
export function digitsOf(value: unknown): string | undefined {
  if (isRawJson(value)) return value.rawJSON
  return typeof value === 'number' ? String(value) : undefined
}
