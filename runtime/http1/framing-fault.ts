import { contentLengthOf, isChunkedCoding } from "./framing-rules.ts";

/**
 * What is wrong with the framing headers of an answer that a lenient parser took, or undefined (`security.md` H9). `headers`
 * are flat.
 */
export function framingFault(headers: readonly string[]): string | undefined {
  let coded = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    // Most names are told apart by their length alone.
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

/** Says that a message has this transfer coding, which it must not have. */
export function codingFault(value: string): string {
  return `transfer coding "${value.slice(0, 100)}"`;
}

/** Says that a message has this length, which is none. */
export function lengthFault(value: string): string {
  return `content length "${value.slice(0, 100)}"`;
}
