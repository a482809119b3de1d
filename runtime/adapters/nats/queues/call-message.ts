import type { MsgHdrs } from "@nats-io/transport-node";

import { isFunctionName, isNamespaceName, parseCallId } from "../../../api/grammar.ts";
import type { QueuedCall } from "../../../core/calls/call.ts";
import { HeaderBlock } from "../link/header-block.ts";

/** Headers of a queued call in the broker. */
export const messageHeader = {
  id: "Nats-Msg-Id",
  expectedStream: "Nats-Expected-Stream",
  version: "Weir-Version",
  call: "Weir-Call",
  function: "Weir-Function",
  namespace: "Weir-Namespace",
  start: "Weir-Start",
  depth: "Weir-Depth",
  method: "Weir-Method",
  path: "Weir-Path",
  query: "Weir-Query",
  callback: "Weir-Callback",
  parent: "Weir-Parent",
  headers: "Weir-Headers",
} as const;

/** Version of the message format; queue-workers also read the previous one, once there is one. */
const version = "1";

/** The headers of the message that carries `call`; its body is the call's body, unchanged. */
export function formatCall(call: QueuedCall, messageId: string, stream: string): HeaderBlock {
  const out = new HeaderBlock();
  out.add(messageHeader.id, messageId);
  out.add(messageHeader.expectedStream, stream);
  out.add(messageHeader.version, version);
  out.add(messageHeader.call, call.id);
  out.add(messageHeader.function, call.function.name);
  out.add(messageHeader.namespace, call.function.namespace);
  out.add(messageHeader.start, call.start.toString());
  out.add(messageHeader.depth, String(call.depth));
  out.add(messageHeader.method, call.method);
  out.add(messageHeader.path, call.path);
  if (call.query !== undefined) out.add(messageHeader.query, `?${call.query}`);
  if (call.callbackUrl !== undefined) out.add(messageHeader.callback, call.callbackUrl);
  if (call.parentId !== undefined) out.add(messageHeader.parent, call.parentId);
  out.add(messageHeader.headers, asciiJson(call.headers));
  return out;
}

/** Inverse of `formatCall`: the call, or why it cannot be read. Never throws. */
export function parseCall(
  queue: string,
  headers: ReadonlyMap<string, string>,
  body: Uint8Array,
): { readonly read: QueuedCall } | { readonly unreadable: string } {
  const get = (name: string) => headers.get(name);
  if (get(messageHeader.version) !== version)
    return { unreadable: `version is ${get(messageHeader.version) ?? "missing"}` };
  const sentId = get(messageHeader.call) ?? "";
  const id = parseCallId(sentId);
  if (id === undefined || id !== sentId) return { unreadable: "call id is not a UUID in lower case" };
  const name = get(messageHeader.function) ?? "";
  const namespace = get(messageHeader.namespace) ?? "";
  if (!isFunctionName(name) || !isNamespaceName(namespace))
    return { unreadable: "function or namespace is not a valid name" };
  const start = get(messageHeader.start) ?? "";
  if (!/^\d{1,20}$/.test(start)) return { unreadable: "start is not a number" };
  const depth = get(messageHeader.depth) ?? "";
  if (!/^\d{1,9}$/.test(depth)) return { unreadable: "depth is not a number" };
  const method = get(messageHeader.method) ?? "";
  if (!/^[A-Z]{1,32}$/.test(method)) return { unreadable: "method is missing" };
  const path = get(messageHeader.path);
  if (path === undefined || !/^(?:\/[\u0021-\u007e]*)?$/.test(path)) return { unreadable: "path is malformed" };
  const query = get(messageHeader.query);
  if (query !== undefined && !/^\?[\u0021-\u007e]*$/.test(query)) return { unreadable: "query is malformed" };
  const callbackUrl = get(messageHeader.callback);
  if (callbackUrl !== undefined && !/^[\u0021-\u007e]+$/.test(callbackUrl))
    return { unreadable: "callback URL is malformed" };
  const parent = get(messageHeader.parent);
  if (parent !== undefined && parseCallId(parent) !== parent)
    return { unreadable: "parent id is not a UUID in lower case" };
  const list = parseHeaderList(get(messageHeader.headers));
  if (list === undefined) return { unreadable: "headers are not a list of names and values" };
  return {
    read: {
      id,
      queue,
      function: { namespace, name },
      start: BigInt(start),
      depth: Number(depth),
      method,
      path,
      query: query?.slice(1),
      callbackUrl,
      parentId: parent,
      headers: list,
      body,
    },
  };
}

/** A flat list of names and values from JSON text, or undefined. */
export function parseHeaderList(text: string | undefined): readonly string[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length % 2 !== 0) return undefined;
  return value.every((item): item is string => typeof item === "string" && !/[\r\n\0]/.test(item)) ? value : undefined;
}

/** JSON in ASCII only: a safe header value for the broker, whatever the bytes mean. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** All headers of a broker message; the first value of a repeated one. */
export function headerMap(headers: MsgHdrs | undefined): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  if (headers !== undefined) for (const key of headers.keys()) map.set(key, headers.get(key));
  return map;
}
