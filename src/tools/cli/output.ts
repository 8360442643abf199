// Standard output. Texts of other parties may contain control characters, which a terminal would execute.

import { once } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import { controlMarks, escapeControls } from '../../base/runtime/log-text.ts'

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** The value as JSON that is safe on a terminal: JSON escapes only some of the control characters. */
export const toJson = (value: unknown): string => JSON.stringify(value).replace(controlMarks, escapeControls)

/** Prints a value as JSON if --json is given, else as text. */
export function print<Value>({ json }: { readonly json?: true }, value: Value, phrase: (value: Value) => string): void {
  console.log(json ? toJson(value) : phrase(value))
}

/** @returns a function that writes the parts of a text: unchanged, or to a terminal without its control characters */
export function createTextWriter(output: Output = process.stdout): (chunk: Buffer) => Promise<void> {
  const decoder = new StringDecoder()
  return async (chunk) => {
    const written = output.isTTY ? decoder.write(chunk).replace(/[^\r\n]+/g, escapeControls) : chunk
    if (!output.write(written)) await once(output, 'drain')
  }
}
