/** Names by their spelling without case and separators, to find out which one a sender meant. */
export class NameIndex {
  readonly #names = new Map<string, string>()

  /** @param names the first of several that are spelt alike is suggested */
  constructor(names: Iterable<string>) {
    for (const name of names) {
      const spelling = spellingOf(name)
      if (spelling !== '' && !this.#names.has(spelling)) this.#names.set(spelling, name)
    }
  }

  /** Returns the name that equals another one except for case and separators. */
  nearest(name: string): string | undefined {
    return this.#names.get(spellingOf(name))
  }
}

function spellingOf(name: string): string {
  return name.replace(/[-_. ]+/g, '').toLowerCase()
}
