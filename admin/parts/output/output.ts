import { copyText } from '../clipboard.ts'
import { saveBlob } from '../export/save-blob.ts'
import { notify } from '../notify.ts'
import { pngOf, svgOf } from './chart-image.ts'
import { csvOf, pastedText, type TextTable } from './table-text.ts'

/** How a table or a chart is taken out of the interface. */
export type OutputForm = 'csv' | 'svg' | 'png' | 'text'

/** What is taken out. */
export type Output = {
  /** Names the file, without its ending. */
  name: string
  sentence: string
  table: TextTable
  /** With the chart; undefined for a table alone. */
  figure?: HTMLElement | null
}

/** Saves a file, or copies text; says so if that fails. */
export async function putOut(form: OutputForm, output: Output): Promise<void> {
  try {
    await put(form, output)
  } catch {
    await notify(`Could not ${form === 'text' ? 'copy' : 'save'} this.`)
  }
}

async function put(form: OutputForm, { name, sentence, table, figure }: Output): Promise<void> {
  switch (form) {
    case 'csv':
      // With a byte order mark, without which Excel takes UTF-8 for the code page of the system.
      return saveBlob(new Blob(['\ufeff', csvOf(table)], { type: 'text/csv' }), fileName(name, form))
    case 'text':
      await copyText(pastedText(sentence, table), document.activeElement as HTMLElement | null)
      return await notify('Copied')
    case 'svg':
      if (!figure) return
      return saveBlob(
        new Blob([svgOf(figure, sentence).text], { type: 'image/svg+xml' }),
        fileName(name, form),
      )
    case 'png':
      if (figure) saveBlob(await pngOf(figure, sentence), fileName(name, form))
  }
}

/** A name that every file system takes: without separators, control characters and quotes. */
function fileName(name: string, form: OutputForm): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\\/:*?"<>|.]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return `${[...plain].slice(0, 80).join('') || 'report'}.${form}`
}
