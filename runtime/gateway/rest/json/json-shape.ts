/** Bounds of a body beside its bytes (contract §1.6); within them reading takes less than 100 ms and 50 MB. */
const deepest = 32;
const mostValues = 20_000;
/** The fault of text that is not JSON at all; `jsonFault` says where. */
export const notJson = "it is not JSON";
const refusedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor"]);

/**
 * Why JSON text must not be parsed, or undefined: nested too deep, too many values, a key that is refused or comes twice in
 * one object. Whether it is JSON in all else is the parser's to say.
 */
export function shapeFault(text: string): string | undefined {
  /** The keys of every object that is open. */
  const open: Set<string>[] = [];
  let values = 1;
  let members = 0;
  let string: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at + 1);
        string = text.slice(at, end + 1);
        at = end;
        break;
      }
      case "{":
      case "[":
        values += 1;
        if (open.push(new Set()) > deepest) return `it is nested deeper than ${deepest} levels`;
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        values += 1;
        break;
      case ":": {
        const key = string === undefined ? undefined : keyOf(string);
        // Told here, as the parser would see it only after all the rest was read.
        if (key === undefined) return notJson;
        string = undefined;
        members += 1;
        const keys = open.at(-1);
        if (refusedKeys.has(key)) return `key "${key}" is not allowed`;
        if (keys?.has(key) === true) return `key "${key.slice(0, 100)}" comes twice`;
        keys?.add(key);
        break;
      }
      default:
        break;
    }
    if (Math.max(values, members) > mostValues) return `it has more than ${mostValues} values`;
  }
  return undefined;
}

/** Where the string that begins at `start` has its closing quote; the end of the text if it has none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (before >= start && text[before] === "\\") before -= 1;
    if ((at - 1 - before) % 2 === 0) return at;
  }
  return text.length;
}

/** What a string in quotes means: `"\u0061"` is the key `a`; undefined when it is no string of JSON. */
function keyOf(string: string): string | undefined {
  if (!string.includes("\\")) return string.slice(1, -1);
  try {
    return String(JSON.parse(string));
  } catch {
    return undefined;
  }
}
