/**
 * Sets back the clock of a server, so that its events get old times of receipt. It is preloaded into each thread of the
 * server; `ms` in the URL of this module says by how much. In JavaScript, like the built server.
 */
const behind_ms = Number(new URL(import.meta.url).searchParams.get('ms'))
const now = Date.now
Date.now = () => now() - behind_ms
