import { headers as newHeaders } from "@nats-io/transport-node";

import { isFunctionName, isNamespaceName, isQueueName, parseCallId } from "../../api/grammar.ts";
import type { PutOutcome } from "../../core/ports/call-queue.ts";
import type { CallbackQueue, QueuedCallback } from "../../core/ports/callback-queue.ts";
import { asciiJson, messageHeader, parseHeaderList } from "./call-message.ts";
import { publishDurably } from "./durable-publish.ts";
import type { NatsLink } from "./nats-link.ts";
import { putOutcome } from "./put-outcome.ts";
import { callbackStream, callbackSubject } from "./stream-names.ts";

const run = "Weir-Run";
const redrives = "Weir-Redrives";
const queue = "Weir-Queue";

/** Callbacks as references in the stream `CB`; their output lies in the ledger. */
export class NatsCallbackQueue implements CallbackQueue {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  async put(callback: QueuedCallback, until: number): Promise<PutOutcome> {
    const headers = newHeaders();
    headers.set(messageHeader.id, `cb-${callback.id}-${callback.redrives}`);
    headers.set(messageHeader.expectedStream, callbackStream);
    headers.set(messageHeader.version, "1");
    headers.set(messageHeader.call, callback.id);
    headers.set(messageHeader.function, callback.function.name);
    headers.set(messageHeader.namespace, callback.function.namespace);
    headers.set(queue, callback.queue);
    headers.set(run, String(callback.run));
    headers.set(redrives, String(callback.redrives));
    headers.set(messageHeader.depth, String(callback.depth));
    headers.set(messageHeader.callback, callback.url);
    headers.set(messageHeader.headers, asciiJson(callback.headers));
    const subject = callbackSubject(callback.queue, callback.function);
    return putOutcome(await publishDurably(this.#link, subject, new Uint8Array(0), headers, until));
  }
}

/** Reads what `put` wrote. Never throws. */
export function parseCallback(
  headers: ReadonlyMap<string, string>,
): { readonly read: QueuedCallback } | { readonly unreadable: string } {
  const whole = (name: string): number =>
    /^\d{1,9}$/.test(headers.get(name) ?? "") ? Number(headers.get(name)) : Number.NaN;
  const id = parseCallId(headers.get(messageHeader.call) ?? "");
  const namespace = headers.get(messageHeader.namespace) ?? "";
  const name = headers.get(messageHeader.function) ?? "";
  const url = headers.get(messageHeader.callback);
  const list = parseHeaderList(headers.get(messageHeader.headers));
  const numbers = { run: whole(run), redrives: whole(redrives), depth: whole(messageHeader.depth) };
  const queueName = headers.get(queue) ?? "";
  if (headers.get(messageHeader.version) !== "1") return { unreadable: "version is not 1" };
  if (id === undefined || url === undefined || list === undefined || Object.values(numbers).some(Number.isNaN)) {
    return { unreadable: "call id, address, headers or numbers are missing" };
  }
  if (!isFunctionName(name) || !isNamespaceName(namespace) || !isQueueName(queueName)) {
    return { unreadable: "function, namespace or queue is no name" };
  }
  return { read: { id, ...numbers, queue: queueName, function: { namespace, name }, url, headers: list } };
}
