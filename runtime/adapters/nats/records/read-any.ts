import { requestTimeout, type NatsLink } from "../link/nats-link.ts";
import { readLast, type LastMessage } from "../link/read-last.ts";
import { headerMap } from "../queues/call-message.ts";
import { operationHeader } from "./call-record-reader.ts";

/** An entry of a bucket. */
export type BucketMessage = Pick<LastMessage, "headers" | "body" | "time">;

/**
 * The entry on `subject`, from any replica; where that has none, from the leader. The marker of a removed entry counts as
 * none.
 * @throws PlatformError `queue_unavailable` when no reply came
 */
export async function readAny(link: NatsLink, stream: string, subject: string): Promise<BucketMessage | undefined> {
  const found = (await readDirect(link, stream, subject)) ?? (await readLast(link, stream, subject));
  return found === undefined || found.headers.has(operationHeader) || found.headers.has("Nats-Marker-Reason")
    ? undefined
    : found;
}

/** Direct get (NATS ADR-31): the body comes as bytes, not as text. A replica may lag, so "not found" proves nothing. */
async function readDirect(link: NatsLink, stream: string, subject: string): Promise<BucketMessage | undefined> {
  try {
    const reply = await link.request(`$JS.API.DIRECT.GET.${stream}.${subject}`, "", { timeout: requestTimeout });
    if (reply.headers === undefined || reply.headers.code >= 400) return undefined;
    const headers = headerMap(reply.headers);
    return { headers, body: reply.data, time: Date.parse(headers.get("Nats-Time-Stamp") ?? "") };
  } catch {
    return undefined;
  }
}
