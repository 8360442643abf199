// The people of the demo: the users of two invented brands, with the same ids in both. One user has excluded herself.

export interface Person {
  readonly id: string
  readonly name: string
  readonly devices: readonly DemoDevice[]
  /** The user has excluded herself: no message may be sent to her, and her inbox is closed. */
  readonly excluded?: true
}

/** A device of a person. */
export interface DemoDevice {
  readonly name: 'Android phone' | 'iPhone' | 'laptop'
  readonly service: 'fcm' | 'apns' | 'web-push'
  /** The device is offline when the demo starts. */
  readonly offline?: true
}

const androidPhone: DemoDevice = { name: 'Android phone', service: 'fcm' }
const iPhone: DemoDevice = { name: 'iPhone', service: 'apns' }
/** The browser on a laptop. */
const laptop: DemoDevice = { name: 'laptop', service: 'web-push' }

export interface Brand {
  readonly id: string
  readonly name: string
  readonly tagline: string
  readonly users: readonly Person[]
}

export const brands: readonly Brand[] = [
  {
    id: '1',
    name: 'Larkspur',
    tagline: 'Larkspur, games for the evening',
    users: [
      { id: '1001', name: 'Mara Lindqvist', devices: [iPhone] },
      { id: '1002', name: 'Theo Brandt', devices: [androidPhone, laptop] },
      { id: '1003', name: 'Ines Carvalho', devices: [androidPhone], excluded: true },
    ],
  },
  {
    id: '2',
    name: 'Northgate',
    tagline: 'Northgate, tournaments all week',
    users: [
      { id: '1001', name: 'Jonas Okafor', devices: [androidPhone] },
      { id: '1002', name: 'Aiko Tanaka', devices: [{ ...androidPhone, offline: true }] },
      { id: '1003', name: 'Elif Demir', devices: [iPhone] },
    ],
  },
]

/** Whether a user is excluded: Ines of Larkspur is, but not Elif of Northgate, who has the same id. */
export function hasExcludedThemselves(brand: string, user: string): boolean {
  return findPerson(brand, user)?.person.excluded === true
}

export function findPerson(
  brandId: string,
  userId: string,
): { readonly brand: Brand; readonly person: Person } | undefined {
  const brand = brands.find(({ id }) => id === brandId)
  const person = brand?.users.find(({ id }) => id === userId)
  return brand && person && { brand, person }
}

export interface Words {
  readonly title: string
  readonly body: string
  /** A file of page/art. */
  readonly art: string
}

export const onSite: readonly Words[] = [
  { title: 'Your free round is waiting', body: 'Ten questions on us, today until midnight.', art: 'gift' },
  { title: 'You reached level 4', body: 'New tables are open to you from now on.', art: 'star' },
  {
    title: 'Friday’s tournament: you are in',
    body: 'It begins at 20:00. Bring a friend if you like.',
    art: 'calendar',
  },
  { title: 'Third place last night', body: 'Well played. The next one is on Sunday.', art: 'trophy' },
  { title: 'A little thank-you', body: 'One year with us: pick a present in your rewards.', art: 'gift' },
  { title: 'Your weekly summary is ready', body: 'Four games, two wins, one very close call.', art: 'star' },
  { title: 'A seat has become free', body: 'Thursday’s quiz has room for one more.', art: 'calendar' },
  { title: 'New personal best', body: 'That round was your fastest so far.', art: 'trophy' },
]

export const pushes: readonly Words[] = [
  { title: 'Tonight at eight', body: 'Your tournament begins in one hour.', art: 'calendar' },
  { title: 'A friend has joined', body: 'Say hello and play the first round together.', art: 'star' },
  { title: 'Reward ends today', body: 'The free round is yours until midnight.', art: 'gift' },
  { title: 'Rematch?', body: 'Someone would like to win that game back.', art: 'trophy' },
]
