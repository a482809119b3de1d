const digits = /^\d{1,16}$/;
const chunked = /^chunked$/i;

/** The bytes that a `Content-Length` promises: decimal digits alone, a safe integer (`security.md` H1); else undefined. */
export function contentLengthOf(value: string): number | undefined {
  const length = digits.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(length) ? length : undefined;
}

/** Whether a `Transfer-Encoding` is exactly the one coding that is known (`security.md` H1). */
export function isChunkedCoding(value: string): boolean {
  return chunked.test(value);
}
