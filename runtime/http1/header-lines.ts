import { headerLine, isBlank } from "../api/http-grammar.ts";

const headerLines = new RegExp(`(?:${headerLine})*`, "y");
const framing = /^(?:content-length|transfer-encoding)$/i;

/**
 * Appends name and value of each header line in `text` from `at` on to `headers`, and returns the offset of the first
 * line that is not a header. Blanks around a value are not part of it (RFC 9112 §5), except for tabs at a value that
 * frames the message: llhttp reads `chunked` followed by a tab as another coding, so it must be refused.
 */
export function readHeaderLines(text: string, at: number, headers: string[]): number {
  headerLines.lastIndex = at;
  headerLines.test(text);
  const to = headerLines.lastIndex;
  let from = at;
  while (from < to) {
    const colon = text.indexOf(":", from);
    const end = text.indexOf("\r", colon);
    const name = text.slice(from, colon);
    const isFraming = (name.length === 14 || name.length === 17) && framing.test(name);
    headers.push(name, trimmed(text, colon + 1, end, isFraming ? isSpace : isBlank));
    from = end + 2;
  }
  return to;
}

function isSpace(code: number): boolean {
  return code === 0x20;
}

function trimmed(text: string, from: number, to: number, isAround: (code: number) => boolean): string {
  let start = from;
  let end = to;
  while (start < end && isAround(text.charCodeAt(start))) start += 1;
  while (end > start && isAround(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
