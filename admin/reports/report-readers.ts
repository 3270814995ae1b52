import {
  duration,
  type FilterReader,
  instant,
  type ListReader,
  oneOf,
  stepNumber,
} from '../parts/filters/filter-readers.ts'

/** A number of days. */
const days: FilterReader = {
  read: (text) => (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 400 ? text : undefined),
  form: 'a number of days from 1 to 400',
}

/** What customers are divided by. */
const breakdown: FilterReader = {
  read: (text) => (/^(customer_type|variable:[^\0]{1,100})$/u.test(text) ? text : undefined),
  form: 'customer_type, or variable: and the name of a variable',
}

/** The event of a customer that decides about its variables. */
const touch: FilterReader = {
  read: (text) => (/^(first|last|[1-9]\d?|100)$/.test(text) ? text : undefined),
  form: 'first, last or the number of a step',
}

/** A variable and its value. */
const variable: ListReader = {
  read: (text) => (/^[^\0:]{1,100}:[^\0]{0,100}$/u.test(text) ? text : undefined),
  form: 'the name of a variable, a colon and its value, at most five times',
  most: 5,
}

/**
 * How the filters of a report are read. They have the contract's names, so that engineers can derive the request from the
 * address; except `last`, a number of days that ends today.
 * @param steps how many steps the journey has
 */
export function reportReaders(steps: number) {
  return {
    last: days,
    entered_from: instant,
    entered_to: instant,
    customer_type: oneOf(['account', 'contact']),
    window: duration,
    first_step: stepNumber(steps),
    last_step: stepNumber(steps),
    step_order: oneOf(['strict']),
    touch,
    breakdown,
    compare: oneOf(['previous_period', 'previous_year', 'custom']),
    compare_from: instant,
    compare_to: instant,
  }
}

/** The same for filters that can be set several times. */
export const reportListReaders = { variables: variable }
