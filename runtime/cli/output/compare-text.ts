/** Orders texts by their code units, as the gateway orders names: the same on every machine, whatever its language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
