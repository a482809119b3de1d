/** A fenced block of a Markdown document. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  /** Of its opening fence, counted from 1. */
  readonly line: number;
}

/** A block of commands and, if one follows before the next commands, the block that shows what they print. */
export interface CommandBlock {
  readonly line: number;
  readonly commands: string;
  readonly shows: string | undefined;
}

/** The blocks fenced by three backticks, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (open === undefined) {
      const fence = /^```(\w*)\s*$/.exec(line);
      if (fence !== null) open = { language: fence[1] ?? "", line: index + 1, lines: [] };
    } else if (/^```\s*$/.test(line)) {
      blocks.push({ language: open.language, line: open.line, text: open.lines.join("\n") });
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}

/** The `sh` blocks, each with the `text` block right after it. */
export function commandBlocks(markdown: string): CommandBlock[] {
  const blocks = codeBlocks(markdown);
  return blocks.flatMap(({ language, line, text }, index) => {
    const next = blocks[index + 1];
    return language === "sh"
      ? [{ line, commands: text, shows: next?.language === "text" ? next.text : undefined }]
      : [];
  });
}

/**
 * Whether `printed` matches what a document shows: a line `…` stands for any lines, `…` elsewhere for any text of its
 * line, and `<id>` and `<seconds>` for a word that varies.
 */
export function printsAsShown(printed: string, shown: string): boolean {
  const pattern = shown
    .trimEnd()
    .split("\n")
    .map((line) => (line === "…" ? String.raw`(?:.*\n)*?` : `${linePattern(line)}\\n`))
    .join("");
  return new RegExp(`^${pattern}$`).test(`${printed.replaceAll(/\r+\n/g, "\n").trimEnd()}\n`);
}

function linePattern(line: string): string {
  return line
    .split(/(…|<id>|<seconds>)/)
    .map((part, index) => (index % 2 === 0 ? RegExp.escape(part) : part === "…" ? ".*" : String.raw`[^\s",]+`))
    .join("");
}
