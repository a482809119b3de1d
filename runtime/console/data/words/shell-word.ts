/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Words as one command line. */
export function commandLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}
