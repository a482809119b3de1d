/** Limits of a body besides its bytes (contract §1.6); within them parsing takes less than 100 ms and 50 MB. */
const maxDepth = 32;
const maxValues = 20_000;
/** The fault of text that is not JSON at all; `jsonFault` says where. */
export const notJson = "it is not JSON";
const refusedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor"]);

/**
 * Why JSON text must not be parsed, or undefined: nested too deeply, too many values, or a key that is refused or
 * repeated in one object. All other faults are left to the parser.
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
        if (open.push(new Set()) > maxDepth) return `it is nested deeper than ${maxDepth} levels`;
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
        // Reported here, because the parser would find it only after the rest was scanned.
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
    if (Math.max(values, members) > maxValues) return `it has more than ${maxValues} values`;
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

/** The value of a quoted string: `"\u0061"` is the key `a`; undefined when it is not a JSON string. */
function keyOf(string: string): string | undefined {
  if (!string.includes("\\")) return string.slice(1, -1);
  try {
    return String(JSON.parse(string));
  } catch {
    return undefined;
  }
}
