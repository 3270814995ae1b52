declare module '*.css'

/** Of which the interface is a part. */
declare const CAIRN_VERSION: string
