/** Works on a few at a time, and gives the results in the order of what they are of. */
export async function* inOrder<In, Out>(
  all: AsyncIterable<In>,
  atATime: number,
  work: (one: In) => Promise<Out>,
): AsyncGenerator<Out> {
  const underWay: Promise<Out>[] = []
  for await (const one of all) {
    const working = work(one)
    working.catch(() => {}) // seen when its turn comes
    underWay.push(working)
    if (underWay.length >= atATime) yield await (underWay.shift() as Promise<Out>)
  }
  for (const working of underWay) yield await working
}
