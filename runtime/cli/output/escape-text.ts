/** Control characters but newline and tab, and marks that change the direction of text. */
const hidden = /(?![\n\t])[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Text of a gateway or function, safe to show on a terminal: what would move the cursor, change colours or turn the
 * order of characters around is shown as `\u001b`.
 */
export function escapeText(text: string): string {
  return text.replaceAll(hidden, (character) => String.raw`\u` + codeOf(character));
}

/** The same for one cell or sentence: line breaks and tabs are escaped, too. */
export function escapeLine(text: string): string {
  return escapeText(text).replaceAll(/[\n\t]/g, (character) => (character === "\n" ? String.raw`\n` : String.raw`\t`));
}

function codeOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
