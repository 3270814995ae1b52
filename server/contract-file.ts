/** The contract, which is beside the server's folder in the source and in what is built. */
export const contractFile = new URL('../openapi.yaml', import.meta.url)
