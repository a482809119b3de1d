import { isDeepStrictEqual } from "node:util";

import {
  WatchDecodeError,
  WatchDecoder,
  type WatchEvent,
} from "../../../runtime/adapters/kubernetes/watch/watch-decoder.ts";
import { mustHold, type FuzzTarget } from "../fuzz-target.ts";
import { below, seededRandom } from "../../random.ts";

/** Shortened from 8 MiB so that lines can be too long. */
const maxLineBytes = 300;

interface Reading {
  readonly events: readonly WatchEvent[];
  readonly fault: string | undefined;
}

/**
 * Throws unless the bytes are the same events and the same fault in one chunk, byte by byte and in any other chunks.
 */
export function checkDecoding(bytes: Uint8Array, seed: number): void {
  const whole = decode([bytes]);
  for (const event of whole.events) checkEvent(event);
  const random = seededRandom(seed);
  const cuts = [whole, decode(chunksOf(bytes, () => 1)), decode(chunksOf(bytes, () => below(random, 40)))];
  for (const cut of cuts) mustHold(isDeepStrictEqual(cut, whole), "cut elsewhere the bytes are other events");
}

function decode(chunks: readonly Uint8Array[]): Reading {
  const decoder = new WatchDecoder(maxLineBytes);
  const events: WatchEvent[] = [];
  let fault: string | undefined;
  for (const chunk of chunks) {
    try {
      for (const event of decoder.push(chunk)) {
        mustHold(fault === undefined, "it goes on after a fault");
        events.push(event);
      }
      mustHold(fault === undefined, "a fault is forgotten");
    } catch (err) {
      if (!(err instanceof WatchDecodeError)) throw err;
      mustHold(fault === undefined || fault === err.message, "a fault becomes another");
      fault = err.message;
    }
  }
  return { events, fault };
}

function chunksOf(bytes: Uint8Array, length: () => number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + length();
    // A copy, as each chunk of a connection has its own memory.
    chunks.push(bytes.slice(at, end));
    at = end;
  }
  return chunks;
}

function checkEvent(event: WatchEvent): void {
  if (event.type === "ERROR") return;
  const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
  mustHold(typeof version === "string" && version !== "", "an event has no version");
  if (event.type === "BOOKMARK") return;
  const { name, namespace } = event.object.metadata;
  mustHold(typeof name === "string" && name !== "", "an object has no name");
  mustHold(namespace === undefined || typeof namespace === "string", "a namespace is no text");
}

const object = '{"metadata":{"name":"a","namespace":"dev","resourceVersion":"7","uid":"u"},"spec":{"x":"é€😀"}}';
const added = `{"type":"ADDED","object":${object}}`;

export const watchDecoder: FuzzTarget = {
  name: "watch-decoder",
  promises: "cut at any byte the bytes of a watch are the same events, and a fault comes once and for all",
  maxBytes: 2_048,
  words: [
    "\n",
    "\r\n",
    '{"type":',
    '"ADDED"',
    '"MODIFIED"',
    '"DELETED"',
    '"BOOKMARK"',
    '"ERROR"',
    ',"object":{',
    '"metadata":{',
    '"name":"a"',
    '"resourceVersion":"8"',
    '"code":410',
    "null",
    "[]",
    "}}\n",
    "\\ud83d",
    '"__proto__":',
  ],
  seeds: [
    latin(`${added}\n${added.replace("ADDED", "DELETED")}\n`),
    latin(`${added}\n\n\r\n${added.slice(0, 40)}`),
    '{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}\n',
    '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n',
    '{"type":"OTHER","object":{"metadata":{"resourceVersion":"9"}}}\n{"type":1}\n',
    `${"x".repeat(400)}\n`,
    "\xff\xfe\n",
    "[]\n",
    "\n\n\n",
  ],
  run: (input) => checkDecoding(input, input.length),
};

function latin(text: string): string {
  return Buffer.from(text).toString("latin1");
}
