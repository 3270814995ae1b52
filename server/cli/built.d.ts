export const SERVER_SOURCES: readonly string[]
export function isBuilt(file: string, sources: readonly string[]): boolean
