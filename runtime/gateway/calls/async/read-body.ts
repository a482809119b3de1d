import { PlatformError } from "../../../api/platform-error.ts";
import type { Exchange } from "../exchange.ts";

/** The outcome of reading a body; `gone` means that the client left before its end. */
export type BodyOutcome = { readonly body: Buffer } | { readonly error: PlatformError } | "gone";

const nothing = Buffer.alloc(0);

/**
 * Collects a body of at most `limit` bytes, with one copy at the end. A declared length is checked before anything is
 * read.
 */
export function readBody(
  { head, body: source = nothing }: Pick<Exchange, "head" | "body">,
  limit: number,
  done: (outcome: BodyOutcome) => void,
): void {
  const { contentLength } = head;
  if ((contentLength ?? 0) > limit) {
    done({ error: bodyTooLarge(`${contentLength} bytes are`, limit) });
    return;
  }
  if (source instanceof Uint8Array) {
    done({ body: source });
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let settled = false;
  const settle = (outcome: BodyOutcome): void => {
    if (settled) return;
    settled = true;
    source.off("data", onData);
    done(outcome);
  };
  const onData = (chunk: Buffer): void => {
    size += chunk.byteLength;
    if (size > limit) settle({ error: bodyTooLarge("it is", limit) });
    else chunks.push(chunk);
  };
  source.on("data", onData);
  source.once("end", () => {
    const [first] = chunks;
    settle({ body: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks) });
  });
  source.once("close", () => settle("gone"));
  source.once("error", () => settle("gone"));
}

/** The error for a body over the limit; `what` as in `12 bytes are`. */
export function bodyTooLarge(what: string, limit: number): PlatformError {
  return new PlatformError(
    "payload_too_large",
    `Cannot queue call: ${what} over the limit of ${limit} bytes; store it elsewhere and queue its address`,
  );
}
