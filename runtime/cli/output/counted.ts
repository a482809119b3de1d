/** A number and what is counted, as in `1 function`, `3 functions`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
