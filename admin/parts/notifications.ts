/** What tells in passing that something is done, with its styles: loaded for the first time that there is something to tell. */
import '@mantine/core/styles/Notification.css'
import '@mantine/notifications/styles.css'

export { Notifications, notifications } from '@mantine/notifications'
