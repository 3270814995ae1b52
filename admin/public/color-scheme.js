// Runs before the first paint, so that a dark page does not flash light first.
{
  let chosen
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // Without storage, the system's color scheme applies.
  }
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.mantineColorScheme = isDark ? 'dark' : 'light'
}
