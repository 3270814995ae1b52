/**
 * So many different words of a name are found. Few names have more than ten; 255 characters could have 128, each of
 * which is a row to write.
 */
const NAME_WORDS = 20

/** Combining marks that Latin, Greek and Cyrillic letters are written with. Other scripts' are part of the letter. */
const MARKS = /[\u0300-\u036f]/gu

/**
 * Letters that Unicode leaves as they are, and how they are written without their keyboard; the sigma at the end of a
 * word, where a search may end and the word go on.
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

/** What nobody sees, in the middle of a word too: joiners, direction marks, soft hyphens, variation selectors. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Words as UAX 29 has them by default, near enough: runs of letters, marks and digits, and each Han and Hiragana
 * character and each symbol for itself. Of what Unicode does not know yet nobody can say that it is no letter.
 */
const WORD = /\p{S}|[\p{sc=Han}\p{sc=Hira}]|[[\p{L}\p{M}\p{N}\p{Cn}\p{Co}]--[\p{sc=Han}\p{sc=Hira}]]+/gv

/** Of which nothing but the letter case has to be folded: most names, at a third of the cost. */
const PRINTABLE_ASCII = /^[ -~]*$/

const BLANKS = /[\p{Z}\p{C}]+/gu

/**
 * The words of a name as searches compare them, each once: without letter case, accents, compatibility forms (NFKC) and
 * what is invisible. A text of punctuation alone is one word, so that no name that can be seen is without.
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

/** So many characters of a word are in the index; no row of it is longer than a few hundred bytes then. */
const INDEXED_CHARACTERS = 32

/** The beginning of a word that the index has. */
export function indexedBeginning(word: string): string {
  return word.length > INDEXED_CHARACTERS ? [...word].slice(0, INDEXED_CHARACTERS).join('') : word
}

/** The words as one text, in which each stands behind a blank. */
export function wordsText(words: readonly string[]): string {
  return words.map((word) => ` ${word}`).join('')
}

/** The words of such a text. */
export function wordsOfText(text: string): string[] {
  return text.split(' ').slice(1)
}
