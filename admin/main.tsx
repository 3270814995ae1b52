import './mantine-styles.ts'
import './page.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { keepLostFocus } from './parts/lost-focus.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element #root')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)

keepLostFocus()

// A page restored from the back/forward cache may show data that its session can no longer read.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

// Paper is white, whatever the screen is.
const { dataset } = document.documentElement
addEventListener('beforeprint', () => {
  const { mantineColorScheme } = dataset
  dataset.mantineColorScheme = 'light'
  const restore = () => {
    dataset.mantineColorScheme = mantineColorScheme
  }
  addEventListener('afterprint', restore, { once: true })
})
