/** Toast notifications with their styles, loaded when the first one is shown. */
import '@mantine/core/styles/Notification.css'
import '@mantine/notifications/styles.css'

export { Notifications, notifications } from '@mantine/notifications'
