import type { ServerResponse } from 'node:http'
import type { Journal } from './journal.ts'
import type { Phone, Phones } from './phones.ts'

const mostEntries = 30
const mostNotes = 6

/** The page's event stream: messages on their way, as `message`, and what each phone shows, as `phone`. Each is whole. */
export function followEvents(journal: Journal, phones: Phones, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.write('retry: 1000\n\n')
  const tell = (entry: object): void => void response.write(`data: ${JSON.stringify(entry)}\n\n`)
  const tellPhone = (phone: Phone): void =>
    void response.write(`event: phone\ndata: ${JSON.stringify(phoneState(phone, phones))}\n\n`)
  phones.list.forEach(tellPhone)
  journal.entries.slice(-mostEntries).forEach(tell)
  const ends = [journal.onChange(tell), phones.onChange(tellPhone)]
  response.on('close', () => {
    for (const end of ends) end()
  })
}

/** A phone as the page draws it: without its token, the newest notifications first. */
export function phoneState(phone: Phone, phones: Phones): object {
  const { id, brand, userId, name, service, online } = phone
  const shown = phones.shown(phone)
  const notes = shown.slice(-mostNotes).reverse()
  return {
    id,
    brand,
    user_id: userId,
    name,
    service,
    online,
    waiting: phones.kept(phone).length,
    total: shown.length,
    notes: notes.map(({ tag, title, body, image, at }) => ({ id: tag, title, body, image_url: image, at })),
  }
}
