/** The texts of the element. Give translations as its property `texts`; missing texts stay English. */
export interface InboxTexts {
  readonly title: string
  /** The name of the bell. */
  readonly bell: (unread: number) => string
  readonly unread: string
  readonly readAll: string
  readonly close: string
  readonly dismiss: (title: string) => string
  readonly older: string
  readonly loading: string
  readonly empty: string
  readonly emptyHint: string
  readonly offline: string
  readonly offlineHint: string
  readonly retry: string
  readonly closed: string
  readonly closedHint: string
  /** Shown instead of a notification without title and body. */
  readonly untitled: string
  /** Spoken by screen readers. */
  readonly arrived: (title: string) => string
  readonly notSaved: string
}

export const english: InboxTexts = {
  title: 'Notifications',
  bell: (unread) => (unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`),
  unread: 'Unread',
  readAll: 'Mark all as read',
  close: 'Close',
  dismiss: (title) => `Remove: ${title}`,
  older: 'Show older',
  loading: 'Loading notifications',
  empty: 'All caught up',
  emptyHint: 'New notifications appear here by themselves.',
  offline: 'No connection',
  offlineHint: 'The list is updated as soon as you are online again.',
  retry: 'Try again',
  closed: 'Notifications are switched off',
  closedHint: 'You do not receive notifications at the moment.',
  untitled: 'A notification without text',
  arrived: (title) => `New notification: ${title}`,
  notSaved: 'The change was not saved, because there is no connection.',
}
