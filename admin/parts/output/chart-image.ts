/** What is copied from the computed style of each element, because a file has no style sheets. */
const copied = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
] as const

/** The space around the chart, and the height of a line of text. */
const margin = 16
const line = 20

/** How many pixels a PNG has for each of the chart's, so that it is sharp on paper and on dense screens. */
const scale = 2

/** A chart as an SVG file: the drawing with its colors, its sentence above and its legend below. */
export function svgOf(
  figure: HTMLElement,
  sentence: string,
): { text: string; width: number; height: number } {
  const drawing = figure.querySelector<SVGSVGElement>('svg.recharts-surface')
  if (!drawing) throw new Error('the chart is not drawn')
  const { width, height } = drawing.getBoundingClientRect()
  const style = getComputedStyle(figure)
  const sentences = wrapped(sentence, Math.max(20, Math.floor(width / 6.5)))
  const legend = legendOf(figure)
  const top = margin + sentences.length * line + margin / 2
  const all = { width: width + 2 * margin, height: top + height + legend.length * line + 2 * margin }

  const svg = element('svg', { ...all, viewBox: `0 0 ${all.width} ${all.height}` })
  svg.append(
    withText('title', {}, sentence),
    element('rect', { ...all, fill: getComputedStyle(document.body).backgroundColor }),
  )
  const text = { 'font-family': style.fontFamily, 'font-size': 13, fill: style.color }
  for (const [index, words] of sentences.entries()) {
    svg.append(withText('text', { ...text, x: margin, y: margin + index * line + 13 }, words))
  }
  const copy = styledCopy(drawing)
  for (const [name, value] of Object.entries({ x: margin, y: top, width, height })) {
    copy.setAttribute(name, String(value))
  }
  svg.append(copy)
  for (const [index, { label, stroke, dashes }] of legend.entries()) {
    const y = top + height + margin + index * line
    const drawn = { x1: margin, x2: margin + 32, y1: y, y2: y, stroke, 'stroke-width': 2 }
    svg.append(
      element('line', { ...drawn, ...(dashes && { 'stroke-dasharray': dashes }) }),
      withText('text', { ...text, x: margin + 40, y: y + 4 }, label),
    )
  }
  return { text: new XMLSerializer().serializeToString(svg), ...all }
}

/** The same as a PNG file. */
export async function pngOf(figure: HTMLElement, sentence: string): Promise<Blob> {
  const { text, width, height } = svgOf(figure, sentence)
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (!blob) throw new Error('the browser cannot write a PNG of this size')
  return blob
}

function styledCopy(drawing: SVGSVGElement): SVGSVGElement {
  const copy = drawing.cloneNode(true) as SVGSVGElement
  const originals = [drawing, ...drawing.querySelectorAll('*')]
  for (const [index, one] of [copy, ...copy.querySelectorAll('*')].entries()) {
    const original = originals[index]
    const style = original && getComputedStyle(original)
    for (const name of copied) if (style) one.setAttribute(name, style.getPropertyValue(name))
    // Where the pointer is belongs to the screen.
    if (one.classList.contains('recharts-tooltip-cursor')) one.remove()
    one.removeAttribute('class')
    one.removeAttribute('style')
    one.removeAttribute('id')
  }
  return copy
}

function legendOf(figure: HTMLElement): { label: string; stroke: string; dashes: string | null }[] {
  return [...figure.querySelectorAll('ul[aria-label=Lines] li')].map((item) => {
    const drawn = item.querySelector('line')
    return {
      label: item.textContent ?? '',
      stroke: drawn ? getComputedStyle(drawn).stroke : '',
      dashes: drawn?.getAttribute('stroke-dasharray') ?? null,
    }
  })
}

/** Breaks a text into lines of about `length` characters. */
function wrapped(text: string, length: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= length) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value))
  return made
}

function withText(name: string, attributes: Record<string, string | number>, text: string): SVGElement {
  const made = element(name, attributes)
  made.textContent = text
  return made
}
