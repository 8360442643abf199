import { Gauge, type Registry } from 'prom-client'

type ReadSamples = () => Promise<readonly { readonly labels: Record<string, string>; readonly value: number }[]>

/** Adds a gauge that is read at each scrape. @returns a function that adds a reader and returns the function that removes it */
export function addGaugeOnScrape(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
): (read: ReadSamples) => () => void {
  const readers = new Set<ReadSamples>()
  new Gauge({
    name: `bellwire_${name}`,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset()
      // An unavailable store must not fail the scrape of the other metrics.
      for (const read of await Promise.allSettled([...readers].map((read) => read())))
        for (const { labels, value } of read.status === 'fulfilled' ? read.value : []) this.set(labels, value)
    },
  })
  return (read) => {
    readers.add(read)
    return () => void readers.delete(read)
  }
}
