const mostLengthDigits = 16;

/**
 * What is wrong with the framing headers of an answer beyond what the parser refuses, or undefined (`security.md` H9):
 * a transfer coding is exactly `chunked`, a length a safe integer. `headers` are flat.
 */
export function framingFault(headers: readonly string[]): string | undefined {
  let coded = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    // Most names are told apart by their length alone.
    if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      const value = headers[index + 1] ?? "";
      if (coded || value.toLowerCase() !== "chunked") return `transfer coding "${value.slice(0, 100)}"`;
      coded = true;
    } else if (name.length === 14 && name.toLowerCase() === "content-length") {
      const value = headers[index + 1] ?? "";
      if (value.length > mostLengthDigits || Number(value) > Number.MAX_SAFE_INTEGER)
        return `content length "${value.slice(0, 100)}"`;
    }
  }
  return undefined;
}
