/** Returns a text of at most `most` characters: of a longer one the beginning and "…". */
export function shortText(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
