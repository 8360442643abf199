import { type Brand, brands, onSite, type Person, pushes, type Words } from './cast.ts'

export type Channel = 'push' | 'site'

/** An activity request record (§2.1) with its content beside it, and who it is for in words. */
export interface Sample {
  readonly channel: Channel
  readonly brand: Brand
  readonly person: Person
  readonly words: Words
  readonly record: object
}

export interface Records {
  next(channel: Channel, brand: Brand, person: Person): Sample
  /** Two on-site messages and one push for everybody. */
  first(): readonly Sample[]
}

/** Makes records with ids of their own. `page` is where the pictures are. */
export function createRecords(page: string): Records {
  let id = Date.now() * 1000
  const used = new Map<string, number>()

  function next(channel: Channel, brand: Brand, person: Person): Sample {
    const choice = channel === 'site' ? onSite : pushes
    const who = `${channel}/${brand.id}/${person.id}`
    // Everybody begins at another place, so that a page shows different ones.
    const turn = used.get(who) ?? brand.users.indexOf(person) * 3 + brands.indexOf(brand)
    used.set(who, turn + 1)
    const words = choice[turn % choice.length] as Words
    id++
    const record = {
      activity: {
        id,
        brand_id: Number(brand.id),
        user_id: person.id,
        activity_id: channel === 'site' ? 301 : 302,
        action_group_id: 41,
        trigger_hash: id.toString(16),
        action_id: channel === 'site' ? 77 : 78,
      },
      title: words.title,
      body: words.body,
      image_url: `${page}/art/${words.art}.svg`,
      url: `${page}/#${brand.id}/${person.id}`,
      data: { demo: 'yes' },
    }
    return { channel, brand, person, words, record }
  }

  return {
    next,
    first() {
      const everybody = brands.flatMap((brand) => brand.users.map((person) => ({ brand, person })))
      const site = [...everybody, ...everybody].map(({ brand, person }) => next('site', brand, person))
      return [...site, ...everybody.map(({ brand, person }) => next('push', brand, person))]
    },
  }
}

/** What a hurried export may contain: nobody to send it to. */
export const unreadable = {
  activity: { id: 1, brand_id: 1, activity_id: 302, action_group_id: 41, trigger_hash: 'x', action_id: 78 },
  title: 'For whom?',
}
