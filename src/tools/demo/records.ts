import { type Brand, brands, onSite, type Person, pushes, type Words } from './cast.ts'

export type Channel = 'push' | 'site'

/** An activity request record (§2.1), with its brand, its user and its texts. */
export interface Sample {
  readonly channel: Channel
  readonly brand: Brand
  readonly person: Person
  readonly words: Words
  readonly record: object
  /** The message is of the campaign. */
  readonly campaign?: true
}

export interface Records {
  next(channel: Channel, brand: Brand, person: Person): Sample
  /** A push of the campaign. */
  campaign(brand: Brand, person: Person): Sample
  /** Two on-site messages and one push for each user. */
  first(): readonly Sample[]
}

/** The activity_id of the campaign. */
export const campaignId = 303

/** Makes records with unique ids. @param page URL of the page, which has the images */
export function createRecords(page: string): Records {
  let id = Date.now() * 1000
  const turns = new Map<string, number>()

  function next(channel: Channel, brand: Brand, person: Person, campaign?: true): Sample {
    const choice = channel === 'site' ? onSite : pushes
    const key = `${channel}/${brand.id}/${person.id}`
    // Each user begins with another text, so that a page shows different ones.
    const turn = turns.get(key) ?? brand.users.indexOf(person) * 3 + brands.indexOf(brand)
    turns.set(key, turn + 1)
    const words = choice[turn % choice.length] as Words
    id++
    const record = {
      activity: {
        id,
        brand_id: Number(brand.id),
        user_id: person.id,
        activity_id: campaign ? campaignId : channel === 'site' ? 301 : 302,
        action_group_id: 41,
        trigger_hash: id.toString(16),
        action_id: channel === 'site' ? 77 : 78,
      },
      title: words.title,
      body: words.body,
      image_url: `${page}/art/${words.art}.svg`,
      url: `${page}/site#${brand.id}/${person.id}`,
      data: { demo: 'yes' },
    }
    return { channel, brand, person, words, record, ...(campaign && { campaign }) }
  }

  return {
    next,
    campaign: (brand, person) => next('push', brand, person, true),
    first() {
      const users = brands.flatMap((brand) => brand.users.map((person) => ({ brand, person })))
      const site = [...users, ...users].map(({ brand, person }) => next('site', brand, person))
      return [...site, ...users.map(({ brand, person }) => next('push', brand, person))]
    },
  }
}

/** A record without a user, as a faulty export may contain it. */
export const unreadable = {
  activity: { id: 1, brand_id: 1, activity_id: 302, action_group_id: 41, trigger_hash: 'x', action_id: 78 },
  title: 'For whom?',
}
