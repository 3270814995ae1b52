/**
 * Read before all else by a server whose clock is to be behind, on each of its threads, by as much as the URL of this module
 * says: so a store gets events that are older than it. JavaScript, as a server is.
 */
const behind_ms = Number(new URL(import.meta.url).searchParams.get('ms'))
const now = Date.now
Date.now = () => now() - behind_ms
