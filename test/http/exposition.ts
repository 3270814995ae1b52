/** A sample in Prometheus' text format. */
export type Sample = { name: string; labels: Record<string, string>; value: number }

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\n"])*"'
/** As Go's ParseFloat reads it: NaN in any letter case. */
const NUMBER = '[+-]?(?:[0-9.]+(?:e[+-]?[0-9]+)?|Inf)|[Nn]a[Nn]'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (${NUMBER})$`)
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`)

/**
 * Parses the text strictly by its specification (Prometheus, "Text-based format", version 0.0.4).
 * @throws {Error} that names the invalid line
 */
export function parseExposition(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const types = new Map<string, string>()
  const seen = new Set<string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    const comment = COMMENT.exec(line)
    const sample = SAMPLE.exec(line)
    if (line === '') continue
    if (comment) {
      const [, kind, name = '', rest = ''] = comment
      if (kind === 'HELP') continue
      if (types.has(name)) throw new Error(`declared twice: ${line}`)
      if (!['counter', 'gauge', 'histogram', 'summary'].includes(rest)) throw new Error(`no type: ${line}`)
      types.set(name, rest)
    } else if (sample) {
      const [, name = '', labels = '', value] = sample
      const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
      if ([...types.keys()].at(-1) !== family) throw new Error(`not below its type: ${line}`)
      const series = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(series)) throw new Error(`twice: ${line}`)
      seen.add(series)
      samples.push({ name, labels: labelsOf(labels), value: Number(value?.replace('Inf', 'Infinity')) })
    } else {
      throw new Error(`neither comment nor sample: ${line}`)
    }
  }
  return samples
}

function labelsOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(new RegExp(LABEL, 'g'))].map(([pair]) => pair.split('="', 2))
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value.slice(0, -1)]))
}

/** Returns the sum of the samples with this name and these labels; 0 if there are none. */
export function sumOf(samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}

/** Returns the current metrics of a server. */
export async function scrape({ url }: { url: string }): Promise<Sample[]> {
  const reply = await fetch(`${url}/metrics`)
  if (reply.status !== 200) throw new Error(`/metrics answered ${reply.status}`)
  return parseExposition(await reply.text())
}
