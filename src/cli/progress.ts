/** A bar on a terminal, a line every few seconds elsewhere. */
export interface Progress {
  /** How far it is; `total` in the same unit as `done`, absent when it cannot be known. */
  show(label: string, done: number, total: number | undefined, note: string): void
  /** A line of its own, which the bar does not overwrite. */
  say(text: string): void
  end(): void
}

const width = 30

/** @param now for the pace at which it is drawn; epoch milliseconds */
export function createProgress(
  to: NodeJS.WriteStream | { write(text: string): unknown; isTTY?: false },
  now = Date.now,
): Progress {
  const terminal = to.isTTY === true
  const everyMs = terminal ? 100 : 5_000
  let drawnAt = terminal ? 0 : now()
  let label = ''
  let line = ''
  const clear = (): void => {
    if (terminal && line !== '') to.write('\r\x1b[K')
  }
  return {
    show(nowDoing, done, total, note) {
      const part = total === undefined ? 0 : total === 0 ? 1 : Math.min(1, done / total)
      line = terminal
        ? `${nowDoing} ${bar(part)} ${percent(part, total)} ${note}`
        : `${nowDoing}: ${percent(part, total)} ${note}`
      // The end of a part is always drawn, and so is its beginning.
      if (part < 1 && nowDoing === label && now() - drawnAt < everyMs) return
      if (!terminal && nowDoing !== label && part < 1) {
        label = nowDoing
        return
      }
      label = nowDoing
      drawnAt = now()
      if (terminal) to.write(`\r\x1b[K${line.slice(0, ((to as NodeJS.WriteStream).columns ?? 80) - 1)}`)
      else to.write(`${line}\n`)
    },
    say(text) {
      clear()
      to.write(`${text}\n`)
    },
    end() {
      clear()
      line = ''
    },
  }
}

function bar(part: number): string {
  const full = Math.round(part * width)
  return `${'█'.repeat(full)}${'░'.repeat(width - full)}`
}

function percent(part: number, total: number | undefined): string {
  return total === undefined ? '' : `${Math.floor(part * 100)} %`.padStart(5)
}
