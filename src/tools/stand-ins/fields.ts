// Reads members of received JSON objects.

/** The members that are texts. */
export function onlyTexts(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === 'string')
  return Object.fromEntries(texts)
}

/** All members as texts. An app gets values of other types as JSON. */
export function allTexts(fields: object): Record<string, string> {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, text(value)]))
}
