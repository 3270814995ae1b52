import type { Engine } from '../engine.ts'
import { arrivedPlaces } from './arrived-customers.ts'
import { ThreadDialect } from './dialect.ts'
import { countEnrolments, removeCustomer, removeJourney } from './sqlite-removals.ts'

export const sqliteEngine: Engine = {
  dialect: new ThreadDialect({
    async read() {
      throw new Error('there is no connection')
    },
  }),
  arrivedPlaces,
  removals: { removeCustomer, removeJourney, countEnrolments },
}
