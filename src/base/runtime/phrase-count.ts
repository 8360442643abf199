/** @example phraseCount(1, 'record') // '1 record'; phraseCount(2_000, 'record') // '2,000 records' */
export const phraseCount = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
