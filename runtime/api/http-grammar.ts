/** Sources of regular expressions for the grammar of HTTP/1.1; one character per byte. */
export const httpGrammar = {
  /** A method or the name of a header (RFC 9110 §5.6.2). */
  token: "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+",
  /** The value of a header, with the blanks around it (RFC 9110 §5.5). */
  value: "[\\t\\x20-\\x7e\\x80-\\xff]*",
} as const;

/** One line of a head: neither folded, nor with a space before the colon, nor with control bytes (RFC 9112 §5). */
export const headerLine = `${httpGrammar.token}:${httpGrammar.value}\\r\\n`;

const wholeToken = new RegExp(`^${httpGrammar.token}$`);
const notInValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether the text may be a method or the name of a header. */
export function isToken(text: string): boolean {
  return wholeToken.test(text);
}

/** Whether the text may be the value of a header; a character above 0xff would be truncated to one byte. */
export function isHeaderValue(text: string): boolean {
  return !notInValue.test(text);
}

/** Whether the character is a blank that may surround the value of a header and is not part of it. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** The lower-case names and options that a `Connection` header lists. */
export function connectionOptions(value: string): string[] {
  const options: string[] = [];
  for (const part of value.split(",")) {
    // Not by trim(), which treats some bytes above ASCII as blanks, too.
    const option = part.replace(/^[\t ]+|[\t ]+$/g, "").toLowerCase();
    if (option !== "") options.push(option);
  }
  return options;
}
