// The states and variants of the pictures that screenshots.ts draws.

export const now = new Date('2026-11-25T14:30:00Z')

export interface Variant {
  readonly name: string
  readonly scheme: 'light' | 'dark'
  readonly rtl: boolean
  readonly narrow: boolean
  readonly width: number
  readonly height: number
}

const wide = { rtl: false, narrow: false, width: 500, height: 620 }
export const variants: readonly Variant[] = [
  { ...wide, name: 'light', scheme: 'light' },
  { ...wide, name: 'dark', scheme: 'dark' },
  { ...wide, name: 'rtl', scheme: 'light', rtl: true },
  { ...wide, name: 'narrow', scheme: 'light', narrow: true, width: 360, height: 640 },
]

export interface State {
  readonly name: string
  readonly opens: boolean
  /** Presses of Tab. */
  readonly focuses?: number
  readonly hovers?: boolean
  /** The list in the page, without a bell. */
  readonly inPage?: boolean
  state(rtl: boolean): object
}

const english = [
  {
    title: 'Your parcel is on its way',
    body: 'It arrives tomorrow between 10 and 12. You can still change the place.',
    image: 'gift',
    minutes: 2,
    unread: true,
  },
  {
    title: 'Friday’s tournament: you are in',
    body: 'It begins at 20:00. Bring a friend if you like.',
    image: 'calendar',
    minutes: 48,
    unread: true,
  },
  {
    title: 'You reached level 4',
    body: 'New tables are open to you from now on.',
    image: 'star',
    minutes: 300,
    unread: false,
  },
  {
    title: 'New sign-in from Lisbon',
    body: 'Was it not you? Change your password.',
    image: null,
    minutes: 1_700,
    unread: false,
  },
  {
    title: 'Third place last night',
    body: 'Well played. The next one is on Sunday.',
    image: 'trophy',
    minutes: 14_000,
    unread: false,
  },
] as const

const inArabic = [
  ['طردك في الطريق', 'يصل غدًا بين العاشرة والثانية عشرة.'],
  ['بطولة الجمعة: أنت مشارك', 'تبدأ في الساعة 20:00. أحضر صديقًا إن أردت.'],
  ['وصلت إلى المستوى 4', 'طاولات جديدة متاحة لك من الآن.'],
  ['تسجيل دخول جديد من لشبونة', 'لم تكن أنت؟ غيّر كلمة المرور.'],
  ['المركز الثالث الليلة الماضية', 'أحسنت. البطولة القادمة يوم الأحد.'],
]

function items(rtl: boolean): object[] {
  return english.map(({ title, body, image, minutes, unread }, i) => {
    const at = new Date(now.getTime() - minutes * 60_000).toISOString()
    const [arabicTitle, arabicBody] = inArabic[i] as [string, string]
    return {
      site_notification_id: String(i),
      title: rtl ? arabicTitle : title,
      body: rtl ? arabicBody : body,
      image_url: image && `/${image}.svg`,
      url: '/there',
      created_at: at,
      expires_at: null,
      seen_at: at,
      read_at: unread ? null : at,
    }
  })
}

const live = { status: 'live', reason: null, listed: true, items: [], unseen: 0, unread: 0, more: false }
const full = (rtl: boolean): object => ({ ...live, items: items(rtl), unread: 2, more: true })

export const states: readonly State[] = [
  { name: 'Bell', opens: false, state: full },
  { name: 'List', opens: true, state: full },
  { name: 'Pointer on a notification', opens: true, hovers: true, state: full },
  { name: 'Keyboard', opens: true, focuses: 3, state: full },
  { name: 'Loading', opens: true, state: () => ({ ...live, status: 'loading', listed: false }) },
  { name: 'Empty', opens: true, state: () => live },
  { name: 'Offline', opens: true, state: (rtl) => ({ ...live, ...full(rtl), status: 'offline' }) },
  { name: 'Offline from the start', opens: true, state: () => ({ ...live, status: 'offline', listed: false }) },
  {
    name: 'Inbox closed',
    opens: true,
    state: () => ({ ...live, status: 'closed', reason: 'excluded', listed: false }),
  },
  { name: 'List in the page', opens: false, inPage: true, state: full },
]

/** Source of the element's property `texts`, which contains functions. */
export const arabic = `({
  title: 'الإشعارات',
  bell: (unread) => 'الإشعارات، غير مقروءة: ' + unread,
  unread: 'غير مقروء',
  readAll: 'تعليم الكل كمقروء',
  close: 'إغلاق',
  dismiss: (title) => 'إزالة: ' + title,
  older: 'عرض الأقدم',
  loading: 'جارٍ تحميل الإشعارات',
  empty: 'لا جديد الآن',
  emptyHint: 'تظهر الإشعارات الجديدة هنا تلقائيًا.',
  offline: 'لا يوجد اتصال',
  offlineHint: 'تُحدَّث القائمة عندما تتصل من جديد.',
  closed: 'الإشعارات متوقفة',
  closedHint: 'لا تتلقى إشعارات في الوقت الحالي.',
})`
