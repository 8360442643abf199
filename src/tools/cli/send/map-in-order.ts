/** Maps items with limited concurrency, and yields the results in the order of the items. */
export async function* mapInOrder<In, Out>(
  items: AsyncIterable<In>,
  concurrency: number,
  map: (item: In) => Promise<Out>,
): AsyncGenerator<Out> {
  const inFlight: Promise<Out>[] = []
  for await (const item of items) {
    const result = map(item)
    result.catch(() => {}) // a rejection is thrown when the result is yielded
    inFlight.push(result)
    if (inFlight.length >= concurrency) yield await (inFlight.shift() as Promise<Out>)
  }
  for (const result of inFlight) yield await result
}
