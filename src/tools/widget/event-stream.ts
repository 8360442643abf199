import { createParser } from 'eventsource-parser'

/** The operator sends a ping every 15 seconds. After this silence the connection is dead. */
const silenceMs = 45_000

export interface StreamEvent {
  readonly event: string | undefined
  readonly id: string | undefined
  readonly data: string
}

/** Reads the events of a response until it ends. @throws if the connection breaks, or is silent for too long */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onRetry: (ms: number) => void,
): AsyncGenerator<StreamEvent> {
  const events: StreamEvent[] = []
  const parser = createParser({ onRetry, onEvent: ({ event, id, data }) => events.push({ event, id, data }) })
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read())
      if (done) return
      parser.feed(value)
      yield* events.splice(0)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function withinSilence<T>(read: Promise<T>): Promise<T> {
  let timer = 0
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the stream was silent for ${silenceMs} ms`)), silenceMs)
  })
  return Promise.race([read, silence]).finally(() => clearTimeout(timer))
}
