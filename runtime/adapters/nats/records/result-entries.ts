import { PlatformError } from "../../../api/platform-error.ts";
import type { StoredResult } from "../../../core/ports/call-ledger.ts";
import { asciiJson, parseHeaderList } from "../queues/call-message.ts";
import { publishDurably } from "../link/durable-publish.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readAny } from "./read-any.ts";
import { bucketWriteHeaders } from "../link/read-last.ts";
import { bucket, bucketStream, keySubject } from "../stream-names.ts";

const status = "Weir-Status";
const duration = "Weir-Duration";
const list = "Weir-Headers";
const budget = 3_000;
const stream = bucketStream(bucket.results);

const subjectOf = (id: string, run: number) => keySubject(bucket.results, `${id}.${run}`);

/** Stores the output of one run: body raw, the rest in headers. False when the bucket is full. */
export async function writeResult(
  link: NatsLink,
  id: string,
  run: number,
  result: StoredResult,
  ttl: number,
): Promise<boolean> {
  const headers = bucketWriteHeaders(ttl, undefined);
  headers.add(status, String(result.status));
  headers.add(duration, String(result.duration));
  headers.add(list, asciiJson(result.headers));
  const outcome = await publishDurably(link, subjectOf(id, run), result.body, headers, performance.now() + budget);
  if (outcome.kind === "stored") return true;
  if (outcome.kind === "refused") return false;
  throw new PlatformError("queue_unavailable", `Cannot store the result of call "${id}": the broker did not answer`, {
    cause: outcome.cause,
  });
}

/** The output of one run, or undefined when it was not kept or has expired. */
export async function readResult(link: NatsLink, id: string, run: number): Promise<StoredResult | undefined> {
  const found = await readAny(link, stream, subjectOf(id, run));
  if (found === undefined) return undefined;
  return {
    status: Number(found.headers.get(status) ?? 0),
    duration: Number(found.headers.get(duration) ?? 0),
    headers: parseHeaderList(found.headers.get(list)) ?? [],
    body: found.body,
  };
}

/** Removes the output of one run; that there is none is not an error. */
export async function removeResult(link: NatsLink, id: string, run: number): Promise<void> {
  const headers = bucketWriteHeaders(1_000, undefined);
  headers.add("KV-Operation", "PURGE");
  headers.add("Nats-Rollup", "sub");
  const outcome = await publishDurably(
    link,
    subjectOf(id, run),
    new Uint8Array(0),
    headers,
    performance.now() + budget,
  );
  if (outcome.kind !== "stored")
    throw new PlatformError("queue_unavailable", `Cannot remove the result of call "${id}"`);
}
