const digits = /^\d{1,16}$/;
const chunked = /^chunked$/i;

/** Bounds of a response, over HTTP/1.1 and HTTP/2 alike (`security.md` H9): bytes of its head, interim responses before it. */
export const responseLimits = { head: 65_536, interim: 10 } as const;

/** Bytes by a `Content-Length`; undefined unless it is decimal digits alone and a safe integer (`security.md` H1). */
export function contentLengthOf(value: string): number | undefined {
  const length = digits.test(value) ? Number(value) : Number.NaN;
  return Number.isSafeInteger(length) ? length : undefined;
}

/** Whether a `Transfer-Encoding` is `chunked`, the only coding that is supported (`security.md` H1). */
export function isChunkedCoding(value: string): boolean {
  return chunked.test(value);
}
