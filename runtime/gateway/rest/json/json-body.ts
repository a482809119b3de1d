import { PlatformError } from "../../../api/platform-error.ts";
import { jsonFault } from "./json-fault.ts";
import { notJson, shapeFault } from "./json-shape.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The JSON of a body: at most 32 levels and 20 000 values, no duplicate keys, keys whose value is null left out,
 * objects without prototype; undefined when the body is empty.
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
  const fault = shapeFault(text);
  if (fault !== undefined) throw malformed(fault === notJson ? `${notJson} ${jsonFault(text)}` : fault);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed(`${notJson} ${jsonFault(text)}`, cause);
  }
  return cleaned(value);
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    if (member !== null) copy[key] = cleaned(member);
  }
  return copy;
}

function malformed(state: string, cause?: unknown): PlatformError {
  return new PlatformError("malformed_request", `Cannot read the body: ${state}`, { cause });
}
