/** A progress bar on a terminal; elsewhere a line every few seconds. */
export interface Progress {
  /** Updates the progress. `total` has the same unit as `done`; undefined if it is unknown. */
  show(label: string, done: number, total: number | undefined, note: string): void
  /** Prints a line that the bar does not overwrite. */
  print(text: string): void
  end(): void
}

const width = 30

/** @param now the clock that limits how often the bar is drawn, in epoch milliseconds */
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
    show(newLabel, done, total, note) {
      const part = total === undefined ? 0 : total === 0 ? 1 : Math.min(1, done / total)
      line = terminal
        ? `${newLabel} ${bar(part)} ${percent(part, total)} ${note}`
        : `${newLabel}: ${percent(part, total)} ${note}`
      // The end of each phase is always drawn, and on a terminal also its beginning.
      if (part < 1 && newLabel === label && now() - drawnAt < everyMs) return
      if (!terminal && newLabel !== label && part < 1) {
        label = newLabel
        return
      }
      label = newLabel
      drawnAt = now()
      if (terminal) to.write(`\r\x1b[K${line.slice(0, ((to as NodeJS.WriteStream).columns ?? 80) - 1)}`)
      else to.write(`${line}\n`)
    },
    print(text) {
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
