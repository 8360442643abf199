/** The key of all benchmarks, for the API and for /admin. */
export const benchKey = 'bench-key-0123456789abcdef'
