/**
 * Maximum distinct words indexed per name. Few names have more than ten; 255 characters could have 128, and each is a
 * row to write.
 */
const NAME_WORDS = 20

/** Combining marks of Latin, Greek and Cyrillic letters. In other scripts they are part of the letter. */
const MARKS = /[\u0300-\u036f]/gu

/**
 * Letters that Unicode does not decompose, as they are written on other keyboards; and the final sigma, because a
 * search may end there while the word continues.
 */
const PLAIN: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŧ: 't',
  þ: 'th',
  ς: 'σ',
}

/** Invisible characters, also within words: joiners, direction marks, soft hyphens, variation selectors. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Words nearly as UAX 29 defines them by default: runs of letters, marks and digits, and each Han or Hiragana character
 * and each symbol by itself. A character unknown to this version of Unicode counts as a letter.
 */
const WORD = /\p{S}|[\p{sc=Han}\p{sc=Hira}]|[[\p{L}\p{M}\p{N}\p{Cn}\p{Co}]--[\p{sc=Han}\p{sc=Hira}]]+/gv

/** Text in which only the letter case must be folded: most names, at a third of the cost. */
const PRINTABLE_ASCII = /^[ -~]*$/

const BLANKS = /[\p{Z}\p{C}]+/gu

/**
 * Returns the distinct words of a name in the form that searches compare: without letter case, accents, compatibility
 * forms (NFKC) and invisible characters. A text of punctuation only is one word, so that every visible name has one.
 */
export function nameWords(name: string): string[] {
  const folded = fold(name)
  const words = folded.match(WORD) ?? [folded.replace(BLANKS, '')].filter((word) => word !== '')
  return [...new Set(words)].slice(0, NAME_WORDS)
}

function fold(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text.toLowerCase()
  const plain = text
    .replace(INVISIBLE, '')
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .normalize('NFKC')
  return plain.replace(/[ßæœøđðħıłŧþς]/gu, (letter) => PLAIN[letter] ?? letter)
}

/** Maximum characters of a word in the index, so that no row is longer than a few hundred bytes. */
const INDEXED_CHARACTERS = 32

/** Returns the prefix of a word that is in the index. */
export function indexedBeginning(word: string): string {
  return word.length > INDEXED_CHARACTERS ? [...word].slice(0, INDEXED_CHARACTERS).join('') : word
}

/** Joins words to one text in which each follows a space. */
export function wordsText(words: readonly string[]): string {
  return words.map((word) => ` ${word}`).join('')
}

/** Splits such a text into its words. */
export function wordsOfText(text: string): string[] {
  return text.split(' ').slice(1)
}
