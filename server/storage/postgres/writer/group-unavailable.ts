import { Unavailable } from '../../unavailable.ts'

/** A group cannot be stored now; others can. */
export class GroupUnavailable extends Unavailable {}
