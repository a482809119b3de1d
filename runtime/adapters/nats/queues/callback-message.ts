import { isFunctionName, isNamespaceName, isQueueName, parseCallId } from "../../../api/grammar.ts";
import type { QueuedCallback } from "../../../core/ports/callback-queue.ts";
import { asciiJson, messageHeader, parseHeaderList } from "./call-message.ts";
import { HeaderBlock } from "../link/header-block.ts";

const run = "Weir-Run";
const redrives = "Weir-Redrives";
const queue = "Weir-Queue";
/** When present, the message's body is the output: `whole`, or `truncated` and then empty. */
const output = "Weir-Output";

/** The headers of the message that carries `callback`; its body is the output, if the callback carries it. */
export function formatCallback(callback: QueuedCallback): HeaderBlock {
  const headers = new HeaderBlock();
  headers.add(messageHeader.version, "1");
  headers.add(messageHeader.call, callback.id);
  headers.add(messageHeader.function, callback.function.name);
  headers.add(messageHeader.namespace, callback.function.namespace);
  headers.add(queue, callback.queue);
  headers.add(run, String(callback.run));
  headers.add(redrives, String(callback.redrives));
  headers.add(messageHeader.depth, String(callback.depth));
  headers.add(messageHeader.callback, callback.url);
  headers.add(messageHeader.headers, asciiJson(callback.headers));
  if (callback.output !== undefined) headers.add(output, callback.output.truncated ? "truncated" : "whole");
  return headers;
}

/** Inverse of `formatCallback`: the callback, or why it cannot be read. Never throws. */
export function parseCallback(
  headers: ReadonlyMap<string, string>,
  body: Uint8Array,
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
  const kept = headers.get(output);
  if (headers.get(messageHeader.version) !== "1") return { unreadable: "version is not 1" };
  if (id === undefined || url === undefined || list === undefined || Object.values(numbers).some(Number.isNaN)) {
    return { unreadable: "call id, address, headers or numbers are missing" };
  }
  if (!isFunctionName(name) || !isNamespaceName(namespace) || !isQueueName(queueName)) {
    return { unreadable: "function, namespace or queue is not a valid name" };
  }
  return {
    read: {
      id,
      ...numbers,
      queue: queueName,
      function: { namespace, name },
      url,
      headers: list,
      ...(kept === undefined ? {} : { output: { body, truncated: kept === "truncated" } }),
    },
  };
}
