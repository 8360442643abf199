import type { Answer } from '../checker/exchange.ts'

export const isJson = ({ headers }: Answer): boolean => /^application\/json\b/i.test(headers['content-type'] ?? '')

export const contentTypes = (operator: Answer, bellwire: Answer) => ({
  operator: operator.headers['content-type'] ?? 'no content type',
  bellwire: bellwire.headers['content-type'] ?? 'no content type',
})
