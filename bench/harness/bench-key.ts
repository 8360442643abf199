/** The one key of all benchmarks, as API key and for /admin. */
export const benchKey = 'bench-key-0123456789abcdef'
