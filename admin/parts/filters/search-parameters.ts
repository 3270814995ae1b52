/** Values as the parameters of an address: a list one by one, and none for what is undefined. */
export function searchParameters(values: object): URLSearchParams {
  return new URLSearchParams(
    Object.entries(values).flatMap(([name, values]) =>
      [values ?? []].flat().map((value) => [name, String(value)]),
    ),
  )
}
