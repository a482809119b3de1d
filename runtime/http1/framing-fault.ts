import { contentLengthOf, isChunkedCoding } from "./framing-rules.ts";

/**
 * The fault in the framing headers of a response that a lenient parser accepted, or undefined (`security.md` H9).
 * `headers` are flat.
 */
export function framingFault(headers: readonly string[]): string | undefined {
  let coded = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    // The length alone rules out most names.
    if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      const value = headers[index + 1] ?? "";
      if (coded || !isChunkedCoding(value)) return codingFault(value);
      coded = true;
    } else if (name.length === 14 && name.toLowerCase() === "content-length") {
      const value = headers[index + 1] ?? "";
      if (contentLengthOf(value) === undefined) return lengthFault(value);
    }
  }
  return undefined;
}

/** Describes a transfer coding that a message must not have. */
export function codingFault(value: string): string {
  return `transfer coding "${value.slice(0, 100)}"`;
}

/** Describes an invalid `Content-Length`. */
export function lengthFault(value: string): string {
  return `content length "${value.slice(0, 100)}"`;
}
