import type { Engine } from '../engine.ts'
import { arrivedPlaces } from './arrived-customers.ts'
import { PoolDialect } from './dialect.ts'
import { countEnrolments, removeCustomer, removeJourney } from './postgres-removals.ts'

export const postgresEngine: Engine = {
  dialect: new PoolDialect({
    async read() {
      throw new Error('there is no connection')
    },
  }),
  arrivedPlaces,
  removals: { removeCustomer, removeJourney, countEnrolments },
}
