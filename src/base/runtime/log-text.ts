import { styleText } from 'node:util'

const colours = { error: 'red', warn: 'yellow', info: 'green', debug: 'gray' } as const

/**
 * Turns the log's JSON lines into lines for a person at a terminal.
 *
 * @example
 * 10:00:00.123 info  attempt settled  brand=1 channel=push category=successful
 */
export function textLines(to: { write(line: string): unknown }): { write(line: string): void } {
  return {
    write(line) {
      const { level, time, event: _, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
      const colour = colours[level as keyof typeof colours] ?? 'gray'
      const rest = Object.entries(fields).map(([name, value]) => `${styleText('gray', `${name}=`)}${show(value)}`)
      const clock = styleText('gray', String(time).slice(11, 23))
      to.write(`${clock} ${styleText(colour, String(level).padEnd(5))} ${[msg, rest.join(' ')].join('  ').trimEnd()}\n`)
    },
  }
}

function show(value: unknown): string {
  const text = typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
  return escapeControls(text)
}

/** Escapes the characters of an untrusted text that a terminal would execute. */
export function escapeControls(text: string): string {
  return text.replace(controls, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The control characters that JSON does not escape. */
export const controlMarks = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Terminal control characters that JSON does not escape: C1 controls (U+009B begins a command), DEL, and bidirectional marks. */
const controls = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
