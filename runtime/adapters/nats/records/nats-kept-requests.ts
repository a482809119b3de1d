import { PlatformError } from "../../../api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { KeptRequests, RequestKeeper, SafeRequest, StoredRequest } from "../../../core/ports/kept-requests.ts";
import { streamNotFound } from "../link/api-errors.ts";
import { requestTimeout, type NatsLink } from "../link/nats-link.ts";
import { readLast } from "../link/read-last.ts";
import { formatCall, parseCall } from "../queues/call-message.ts";
import { bucket, bucketStream, functionKey, keySubject } from "../stream-names.ts";
import { readAny } from "./read-any.ts";

const stream = bucketStream(bucket.requests);
/** Headers of an entry beside those of its call. */
const entryHeader = { ttl: "Nats-TTL", queue: "Weir-Queue", redacted: "Weir-Redacted" } as const;

/** Reply of the JetStream API. */
interface Reply {
  readonly success?: boolean;
  /** How many messages a purge removed. */
  readonly purged?: number;
  readonly error?: { readonly err_code?: number };
}

const subjectOf = (ref: FunctionRef, id: string) => keySubject(bucket.requests, `${functionKey(ref)}.${id}`);

/** Requests of ended calls in bucket `requests`, in the form that calls have in their queue. */
export class NatsKeptRequests implements RequestKeeper, KeptRequests {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async put({ call, redacted }: SafeRequest, ttl: number): Promise<boolean> {
    if (this.#link.downFor() > 0) return false;
    try {
      // A redelivery, or a quick redrive, would store the same once more.
      const headers = formatCall(call, `request-${call.id}`, stream);
      headers.add(entryHeader.ttl, `${Math.ceil(ttl / 1_000)}s`);
      headers.add(entryHeader.queue, call.queue);
      headers.add(entryHeader.redacted, redacted.join(","));
      const subject = subjectOf(call.function, call.id);
      const reply = await this.#link.request(subject, call.body, { headers, timeout: requestTimeout });
      return !("error" in reply.json<object>());
    } catch {
      // Too large, or no reply: the call has ended, and goes on without it.
      return false;
    }
  }

  async find(ref: FunctionRef, id: string): Promise<StoredRequest | undefined> {
    const found = await readAny(this.#link, stream, subjectOf(ref, id));
    if (found === undefined) return undefined;
    const { headers, body, time } = found;
    const parsed = parseCall(headers.get(entryHeader.queue) ?? "", headers, body);
    if ("unreadable" in parsed) return undefined;
    const redacted = headers.get(entryHeader.redacted) ?? "";
    return {
      call: parsed.read,
      redacted: redacted === "" ? [] : redacted.split(","),
      expiresAt: time + Number.parseInt(headers.get(entryHeader.ttl) ?? "0", 10) * 1_000,
    };
  }

  async remove(ref: FunctionRef, id: string): Promise<void> {
    const subject = subjectOf(ref, id);
    const found = await readLast(this.#link, stream, subject);
    if (found === undefined) return;
    const reply = await this.#ask("MSG.DELETE", { seq: found.sequence });
    // It may be gone by this very request, whose reply was lost.
    if (reply === undefined && (await readLast(this.#link, stream, subject))?.sequence === found.sequence)
      throw notRemoved(`the request of call "${id}"`);
  }

  async removeFunction(ref: FunctionRef): Promise<number> {
    const reply = await this.#ask("PURGE", { filter: subjectOf(ref, "*") });
    if (reply === undefined) throw notRemoved(`the requests of function "${formatRef(ref)}"`);
    return reply.purged ?? 0;
  }

  async removeNamespace(namespace: string): Promise<void> {
    const reply = await this.#ask("PURGE", { filter: keySubject(bucket.requests, `${namespace}.>`) });
    if (reply === undefined) throw notRemoved(`the requests of namespace "${namespace}"`);
  }

  /** The reply of a broker that did it, or has no such bucket; undefined = it is not known to be done. */
  async #ask(what: "MSG.DELETE" | "PURGE", request: object): Promise<Reply | undefined> {
    try {
      const subject = `$JS.API.STREAM.${what}.${stream}`;
      const reply = await this.#link.request(subject, JSON.stringify(request), { timeout: requestTimeout });
      const said = reply.json<Reply>();
      return said.success === true || said.error?.err_code === streamNotFound ? said : undefined;
    } catch {
      return undefined;
    }
  }
}

function notRemoved(what: string): PlatformError {
  return new PlatformError("queue_unavailable", `Cannot remove ${what}: the broker did not confirm it`, {
    retryAfterSeconds: 1,
  });
}
