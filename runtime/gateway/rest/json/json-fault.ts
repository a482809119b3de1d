/** What may come next. */
type Expected = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrEnd" | "end";
type Token = "string" | "scalar" | "{" | "}" | "[" | "]" | "," | ":";
type Opened = ("{" | "[")[];

const blanks = /[ \t\r\n]*/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Any character but `"`, `\` and controls; one alternative per character, so that a long string takes one pass. */
const stringContent = /(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/**
 * Where text that the parser refused ceases to be JSON: `at line 1, column 6: expected a value, found "}"`. Lines and
 * columns count from 1, columns in UTF-16 units. Only one character is shown, as the text may be confidential.
 */
export function jsonFault(text: string): string {
  const open: Opened = [];
  let expected: Expected = "value";
  for (let at = endOf(blanks, text, 0); ;) {
    const end = endOfToken(text, at);
    if (text[at] === '"' && text[end] !== '"') return described(text, end, "the rest of a string in double quotes");
    const token = tokenAt(text, at, end);
    const next: Expected | undefined = token === undefined ? undefined : after(token, expected, open);
    if (next === undefined) return described(text, at, inWords(expected, open));
    expected = next;
    at = endOf(blanks, text, token === "string" ? end + 1 : end);
  }
}

/** Where a token ends; `at` if there is none. Of a string: its closing quote, or the first character it cannot have. */
function endOfToken(text: string, at: number): number {
  const char = text[at];
  if (char === '"') return endOf(stringContent, text, at + 1);
  return char !== undefined && "{}[],:".includes(char) ? at + 1 : endOf(scalar, text, at);
}

function tokenAt(text: string, at: number, end: number): Token | undefined {
  if (end === at) return undefined;
  const char = text[at];
  switch (char) {
    case "{":
    case "}":
    case "[":
    case "]":
    case ",":
    case ":":
      return char;
    default:
      return char === '"' ? "string" : "scalar";
  }
}

/** What may follow `token`, or undefined if the token is not allowed here; updates `open`. */
function after(token: Token, expected: Expected, open: Opened): Expected | undefined {
  const value = expected === "value" || expected === "valueOrEnd";
  switch (token) {
    case "string":
      if (expected === "key" || expected === "keyOrEnd") return "colon";
      return value ? afterValue(open) : undefined;
    case "scalar":
      return value ? afterValue(open) : undefined;
    case "{":
    case "[":
      if (!value) return undefined;
      open.push(token);
      return token === "{" ? "keyOrEnd" : "valueOrEnd";
    case "}":
      return open.at(-1) === "{" && (expected === "keyOrEnd" || expected === "commaOrEnd") ? closed(open) : undefined;
    case "]":
      return open.at(-1) === "[" && (expected === "valueOrEnd" || expected === "commaOrEnd") ? closed(open) : undefined;
    case ",":
      if (expected !== "commaOrEnd") return undefined;
      return open.at(-1) === "{" ? "key" : "value";
    case ":":
      return expected === "colon" ? "value" : undefined;
    default:
      return token satisfies never;
  }
}

function closed(open: Opened): Expected {
  open.pop();
  return afterValue(open);
}

function afterValue(open: Opened): Expected {
  return open.length === 0 ? "end" : "commaOrEnd";
}

function inWords(expected: Expected, open: Opened): string {
  switch (expected) {
    case "value":
      return "a value";
    case "valueOrEnd":
      return 'a value or "]"';
    case "key":
      return "a key in double quotes";
    case "keyOrEnd":
      return 'a key in double quotes or "}"';
    case "colon":
      return '":"';
    case "commaOrEnd":
      return open.at(-1) === "{" ? '"," or "}"' : '"," or "]"';
    case "end":
      return "the end of the body";
    default:
      return expected satisfies never;
  }
}

function described(text: string, at: number, expected: string): string {
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  const column = at - before.lastIndexOf("\n");
  const code = text.codePointAt(at);
  const found = code === undefined ? "the end" : JSON.stringify(String.fromCodePoint(code));
  return `at line ${line}, column ${column}: expected ${expected}, found ${found}`;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
