// Spans of OpenTelemetry. Its API does nothing until the process has an SDK: that of the command line (cli/tracing.ts), or that of
// the server into which a side is embedded.

import {
  type Attributes,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'

export interface SpanOptions {
  readonly kind: Lowercase<keyof typeof SpanKind>
  /** The `traceparent` (W3C Trace Context) of the parent. Absent or unreadable: the span begins a trace. */
  readonly parent?: string | undefined
  /** The `traceparent`s of related spans. The SDK limits their number. */
  readonly links?: readonly (string | undefined)[]
  /** Called if the span is recorded. */
  readonly attributes: () => Attributes
}

export interface Span {
  /** The `traceparent` of the work within the span. Undefined: the process has no SDK, and the span no parent. */
  readonly traceparent: string | undefined
  /** Ends the span. `describe` is called if the span is recorded; its `error` is a short text without data of a person. */
  end(describe?: () => { readonly attributes?: Attributes; readonly error?: string | undefined }): void
}

const tracer = trace.getTracer('bellwire')

/** Whether the process has an SDK. Ask before you begin a span for each of many messages. */
export function areSpansOn(): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('bellwire') !== undefined
}

/**
 * Begins a span.
 *
 * @example
 * const span = beginSpan('send 1/push', { kind: 'producer', parent: item.traceparent, attributes: () => ({ 'bellwire.lane': '1/push' }) })
 * span.end(() => ({ attributes: { 'bellwire.outcome': 'successful' } }))
 */
export function beginSpan(name: string, { kind, parent, links, attributes }: SpanOptions): Span {
  const remote = readContext(parent)
  if (!areSpansOn()) return remote ? { ...noSpan, traceparent: writeContext(remote) } : noSpan
  const context = remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote)
  const span = tracer.startSpan(name, { kind: kinds[kind], ...(links && { links: links.flatMap(toLink) }) }, context)
  const recording = span.isRecording()
  if (recording) span.setAttributes(attributes())
  return {
    traceparent: writeContext(span.spanContext()),
    end(describe) {
      if (!recording) return
      const { attributes: more, error } = describe?.() ?? {}
      if (more) span.setAttributes(more)
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
      span.end()
    },
  }
}

const noSpan: Span = { traceparent: undefined, end() {} }

const kinds: Readonly<Record<SpanOptions['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}

const form = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/

function readContext(traceparent: string | undefined): SpanContext | undefined {
  if (traceparent === undefined) return undefined
  const [, traceId = '', spanId = '', flags = ''] = form.exec(traceparent) ?? []
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(context) ? context : undefined
}

const toLink = (traceparent: string | undefined): Link[] => {
  const context = readContext(traceparent)
  return context ? [{ context }] : []
}

function writeContext(context: SpanContext): string | undefined {
  if (!isSpanContextValid(context)) return undefined
  return `00-${context.traceId}-${context.spanId}-${(context.traceFlags & 1) === 1 ? '01' : '00'}`
}
