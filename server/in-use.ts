/** A store or a port is in use by another process; the message is for the operator. */
export class InUse extends Error {}
