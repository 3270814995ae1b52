/** A line of a chart, distinguished by its dashes as well as its color. */
export type Series = { name: string; label: string; color: string; dashes: string }

/** The values of all lines at one time, by the name of the series; null where there is no value. */
export type LinePoint = {
  label: string
  values: Readonly<Record<string, number | null>>
  /** The series whose value is not final yet. */
  open: readonly string[]
}

/** Maximum lines that can be distinguished. */
export const limitSeries = 6

const dashes = ['0', '7 3', '2 3', '12 3 2 3', '1 5', '16 4']

/** The lines of labels: as many as can be distinguished. */
export function seriesOf(labelled: readonly { label: string }[]): Series[] {
  return labelled.slice(0, limitSeries).map(({ label }, index) => ({
    name: `series_${index}`,
    label,
    ...lookOf(index),
  }))
}

/** The look of the series at an index, from 0. */
export function lookOf(place: number): Pick<Series, 'color' | 'dashes'> {
  return { color: `var(--series-${(place % limitSeries) + 1})`, dashes: dashes[place % limitSeries] ?? '0' }
}
