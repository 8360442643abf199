import type { ServerResponse } from 'node:http'
import type { Journal } from './journal.ts'
import type { Phone, Phones } from './phones.ts'

const mostEntries = 30
const mostNotes = 6

/** Serves the event stream of the page: complete states of messages as `message`, and of phones as `phone`. */
export function followEvents(journal: Journal, phones: Phones, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.write('retry: 1000\n\n')
  const sendEntry = (entry: object): void => void response.write(`data: ${JSON.stringify(entry)}\n\n`)
  const sendPhone = (phone: Phone): void =>
    void response.write(`event: phone\ndata: ${JSON.stringify(phoneState(phone, phones))}\n\n`)
  phones.list.forEach(sendPhone)
  journal.entries.slice(-mostEntries).forEach(sendEntry)
  const unsubscribe = [journal.onChange(sendEntry), phones.onChange(sendPhone)]
  response.on('close', () => {
    for (const end of unsubscribe) end()
  })
}

/** The state of a phone for the page: without its token, and with the newest notifications first. */
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
