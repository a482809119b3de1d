import { PlatformError } from "../api/platform-error.ts";

const deepest = 32;
const refusedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor"]);
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The JSON of a body: at most 32 levels, keys whose value is null left out, objects without prototype; undefined when
 * the body is empty.
 * @throws PlatformError `malformed_request`
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw malformed("it is not UTF-8", cause);
  }
  if (text.trim() === "") return undefined;
  if (depthOf(text) > deepest) throw malformed(`it is nested deeper than ${deepest} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed("it is not JSON", cause);
  }
  return cleaned(value);
}

/** Deepest nesting of brackets outside strings, counted before parsing. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === "\\") at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") most = Math.max(most, (depth += 1));
    else if (char === "}" || char === "]") depth -= 1;
  }
  return most;
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    if (refusedKeys.has(key)) throw malformed(`key "${key}" is not allowed`);
    if (member !== null) copy[key] = cleaned(member);
  }
  return copy;
}

function malformed(state: string, cause?: unknown): PlatformError {
  return new PlatformError("malformed_request", `Cannot read the body: ${state}`, { cause });
}
