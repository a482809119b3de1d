const shown = 64;

/** `text` between quotes for an error sentence: control characters escaped, cut after 64 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > shown ? `${text.slice(0, shown)}…` : text);
}
