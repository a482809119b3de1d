/** A rule, step, promise, row or section of a page that a text refers to. */
export interface Citation {
  readonly line: number;
  /** As written: `H7`, `FW19`, `§4.2`. */
  readonly cited: string;
  /** For a section: the file name of its page, `undefined` if the text names none. */
  readonly page?: string | undefined;
}

/** Rules of HTTP, steps of a queued call, promises, invariants, rows of faults and of benches. */
const id = /(?<![\w$.#/+=-])(?:H|G|W|S|I|P|F[WGCBP])[1-9]\d?(?![\w=+/]|\.\d|-[a-z])/g;
const section = /§ ?(\d+(?:\.\d+)*)/g;
/** What a section may belong to. Documents of others are not checked. */
const source = /\bRFC \d+|\bW3C\b|\b[Cc]ontract\b|([a-z][a-z0-9-]*)\.md\b/g;

/** Maximum distance from the name of a page to a section of it, characters. */
const reach = 300;

/** All citations in `text`; a section without a named page belongs to `own`, if given. */
export function citationsIn(text: string, own?: string): Citation[] {
  const lineOf = (index: number) => text.slice(0, index).split("\n").length;
  const ids = [...text.matchAll(id)].map(({ 0: cited, index }) => ({ line: lineOf(index), cited }));
  const sections = [...text.matchAll(section)].flatMap(({ 0: cited, index }) => {
    const page = pageBefore(text.slice(Math.max(0, index - reach), index), own);
    return page === "foreign" ? [] : [{ line: lineOf(index), cited: cited.replace(" ", ""), page }];
  });
  return [...ids, ...sections];
}

function pageBefore(before: string, own: string | undefined): string | undefined {
  const paragraph = before.slice(Math.max(before.lastIndexOf("\n\n"), before.lastIndexOf("*/")) + 1);
  const named = [...paragraph.matchAll(source)].at(-1);
  if (named === undefined) return own;
  if (named[1] !== undefined) return `${named[1]}.md`;
  return /^(?:RFC|W3C)/.test(named[0]) ? "foreign" : "http-contract.md";
}

/** What can be cited on a page: anchors set by hand, and sections whose heading begins with a number. */
export function citable(markdown: string): ReadonlySet<string> {
  const ids = [...markdown.matchAll(/<a id="([A-Z]+\d+)"><\/a>/g)].map(([, name = ""]) => name);
  const sections = [...markdown.matchAll(/^#{2,3} (\d+(?:\.\d+)*) /gm)].map(([, number = ""]) => `§${number}`);
  return new Set([...ids, ...sections]);
}
