/** A part of a text: as it is, or the escape that stands for a character that nobody would see. */
export interface ShownPart {
  readonly text: string;
  readonly isEscape: boolean;
}

/**
 * Controls, line and paragraph separators, halves of characters, and what Unicode says to ignore, which changes the
 * direction of text, joins or hides. Of these, joiners count only beside ASCII: some scripts, and emoji, need them.
 */
const hidden =
  // oxlint-disable-next-line no-misleading-character-class -- each character is meant alone
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\u200c-\u200d\ufe0e-\ufe0f]]|(?<=\p{ASCII}|^)[\u200c-\u200d]|[\u200c-\u200d](?=\p{ASCII}|$)/gv;

/** The parts of a text that came from elsewhere, with hidden characters as `\u202e`; tabs and newlines stay. */
export function shownParts(text: string): readonly ShownPart[] {
  const parts: ShownPart[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (character === "\t" || character === "\n") continue;
    if (index > from) parts.push({ text: text.slice(from, index), isEscape: false });
    parts.push({ text: escapeOf(character), isEscape: true });
    from = index + character.length;
  }
  if (from < text.length || parts.length === 0) parts.push({ text: text.slice(from), isEscape: false });
  return parts;
}

/** The same as one text, for titles and labels. */
export function shownText(text: string): string {
  return shownParts(text)
    .map((part) => part.text)
    .join("");
}

function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}
