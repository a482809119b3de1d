const maxShown = 64;

/** `text` in quotes for an error sentence: control characters escaped, truncated after 64 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
}
