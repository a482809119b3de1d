import type { KubeObject, KubeStatus } from "../client/kube-types.ts";

/** One event of a watch. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  /** Everything up to this version was sent. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string }
  /** The watch is over; 410 when its version has expired. */
  | { readonly type: "ERROR"; readonly status: Partial<KubeStatus> };

/** The bytes are not a watch response of the API server. */
export class WatchDecodeError extends Error {
  override readonly name = "WatchDecodeError";
}

const newline = 10;
/** Objects have at most 1.5 MiB in the store, and three times that with every character escaped. */
const maxLineBytes = 8 * 1_024 * 1_024;

/** Decodes the events of a watch from chunks that are cut anywhere: one JSON document per line. */
export class WatchDecoder {
  readonly #maxLineBytes: number;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The beginning of a line, in a buffer that may be longer than it. */
  #held = Buffer.alloc(0);
  #bytes = 0;
  #fault: WatchDecodeError | undefined;

  constructor(limit: number = maxLineBytes) {
    this.#maxLineBytes = limit;
  }

  /**
   * The events that `chunk` completes, to be consumed before the next chunk. Events of unknown types are left out, and
   * a line that the end of the stream cuts short is dropped.
   * @throws WatchDecodeError at the first line that is too long or is not an event, and on every call after that
   */
  *push(chunk: Uint8Array): Generator<WatchEvent, void> {
    if (this.#fault !== undefined) throw this.#fault;
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      const part = chunk.subarray(start, end === -1 ? chunk.length : end);
      if (this.#bytes + part.length > this.#maxLineBytes)
        throw this.#failed(`a line is over the limit of ${this.#maxLineBytes} bytes`);
      if (end === -1) {
        this.#hold(part);
        return;
      }
      const event = this.#read(this.#takeLine(part));
      if (event !== undefined) yield event;
      start = end + 1;
    }
  }

  #takeLine(rest: Uint8Array): Uint8Array {
    if (this.#bytes === 0) return rest;
    this.#hold(rest);
    const line = this.#held.subarray(0, this.#bytes);
    this.#held = Buffer.alloc(0);
    this.#bytes = 0;
    return line;
  }

  /** Copies each byte a few times at most, however many chunks a line is spread over. */
  #hold(part: Uint8Array): void {
    const bytes = this.#bytes + part.length;
    if (bytes > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, Math.min(2 * bytes, this.#maxLineBytes)));
      this.#held.copy(larger, 0, 0, this.#bytes);
      this.#held = larger;
    }
    this.#held.set(part, this.#bytes);
    this.#bytes = bytes;
  }

  #read(line: Uint8Array): WatchEvent | undefined {
    if (line.every((byte) => byte === 32 || byte === 9 || byte === 13)) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(this.#utf8.decode(line));
    } catch (cause) {
      throw this.#failed("a line is not JSON", cause);
    }
    const read = eventOf(value);
    if (typeof read === "string") throw this.#failed(read);
    return read;
  }

  #failed(what: string, cause?: unknown): WatchDecodeError {
    this.#held = Buffer.alloc(0);
    this.#fault = new WatchDecodeError(`Cannot read the watch: ${what}`, cause === undefined ? {} : { cause });
    return this.#fault;
  }
}

/** The event in a JSON value; undefined for one of an unknown type; a sentence when the value is not an event. */
function eventOf(value: unknown): WatchEvent | undefined | string {
  if (!isMapping(value) || typeof value["type"] !== "string") return "an event has no type";
  const { type, object } = value;
  if (!isMapping(object)) return `an event ${JSON.stringify(type.slice(0, 20))} has no object`;
  if (type === "ERROR") return { type, status: object };
  const metadata = object["metadata"];
  const version = isMapping(metadata) ? metadata["resourceVersion"] : undefined;
  if (!isMapping(metadata) || !isText(version)) return "an object has no version";
  if (type === "BOOKMARK") return { type, resourceVersion: version };
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return undefined;
  const { name, namespace } = metadata;
  if (!isText(name) || !(namespace === undefined || typeof namespace === "string")) return "an object has no name";
  return { type, object: { ...object, metadata } };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
