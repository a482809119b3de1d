import { parseCallId } from "../../../runtime/api/grammar.ts";
import { header } from "../../../runtime/api/names.ts";
import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { endToEndHeaders } from "../../../runtime/core/headers/hop-by-hop.ts";
import type { RequestHead } from "../../../runtime/gateway/calls/request-head.ts";
import { readRequestHead } from "../../../runtime/gateway/edge/read-request-head.ts";
import { replyHeaders } from "../../../test/support/reply-headers.ts";
import { latin1, mustHold, type FuzzTarget } from "../fuzz-target.ts";

const peer = "203.0.113.9";
const refusals: ReadonlySet<string> = new Set(["malformed_request", "headers_too_large", "expectation_failed"]);
/** Concern one connection only (H7). */
const hop = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;
/** May come only from the platform, in any spelling (H4, H6), or is replaced by it. */
const ours =
  /^(?:x-call-attempt|x-parent-call-id|weir-.*|host|content-length|expect|authorization|x-call-id|x-start-time)$/;
const atMostOnce = [
  "Host",
  "Authorization",
  "Content-Type",
  "Content-Length",
  "Transfer-Encoding",
  "X-Call-Id",
  "X-Callback-Url",
  "X-Call-Depth",
];

/** Throws unless a head is refused for a known reason, or only permitted headers are forwarded. */
export function checkRequestHead(rawHeaders: readonly string[], trusted: boolean): void {
  let head: RequestHead;
  try {
    head = readRequestHead(rawHeaders, peer, { trusted, secure: false });
  } catch (err) {
    mustHold(err instanceof PlatformError && refusals.has(err.code), `refused by ${String(err)}`);
    return;
  }
  const sent = namesOf(rawHeaders);
  mustHold(sent.length <= 100, "more than 100 headers");
  for (const name of atMostOnce) {
    const times = sent.filter((each) => each === name.toLowerCase()).length;
    mustHold(name === "Host" ? times === 1 : times <= 1, `${name} came ${times} times`);
  }
  mustHold(!head.chunked || head.contentLength === undefined, "it has two lengths");
  mustHold(head.contentLength === undefined || isCount(head.contentLength), "its length is no number");
  mustHold(head.callDepth === undefined || isCount(head.callDepth), "its depth is no number");
  mustHold(head.callId === undefined || parseCallId(head.callId) === head.callId, "its call id is no UUID");
  mustHold(head.startTime === undefined || /^\d{1,20}$/.test(head.startTime), "its start is no number");
  checkForwarded(head.forward.list, trusted);
}

function checkForwarded(forward: readonly string[], trusted: boolean): void {
  mustHold(forward.length % 2 === 0, "a name without value");
  const names = namesOf(forward);
  for (const name of names) {
    const dashed = name.replaceAll("_", "-");
    mustHold(!hop.test(name) && !ours.test(dashed), `"${name}" goes on`);
    const isTwin = name !== dashed && (dashed.startsWith("x-forwarded-") || dashed === "content-type");
    mustHold(!isTwin, `twin "${name}" goes on`);
  }
  for (const name of [header.forwardedFor, header.forwardedHost, header.forwardedProto])
    mustHold(names.filter((each) => each === name.toLowerCase()).length === 1, `${name} is not there once`);
  const last = forward[forward.length - 5] ?? "";
  mustHold(trusted ? last.endsWith(peer) : last === peer, "the client's address is not the peer's");
}

/** Throws unless only end-to-end headers of a function's response reach the client. */
export function checkReplyHeaders(rawHeaders: readonly string[]): void {
  const facts = { callId: "0af76519-16cd-43dd-8448-eb211c80319c", startTime: "1767225600000000000", duration: 12.3 };
  const reply = replyHeaders(200, rawHeaders, facts);
  mustHold(reply.length % 2 === 0, "a name without value");
  const names = namesOf(reply);
  for (const name of names) mustHold(!hop.test(name), `"${name}" reaches the client`);
  for (const name of [header.callId, header.startTime])
    mustHold(names.filter((each) => each === name.toLowerCase()).length === 1, `${name} is not there once`);
  mustHold(names.includes(header.durationSeconds.toLowerCase()), "the duration is missing");
  const at = names.indexOf(header.callId.toLowerCase());
  mustHold(reply[2 * at + 1] === facts.callId, "the function chose the call id");
  for (const name of namesOf(endToEndHeaders(rawHeaders))) mustHold(!hop.test(name), `"${name}" is queued`);
}

function namesOf(headers: readonly string[]): string[] {
  return headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

export const headers: FuzzTarget = {
  name: "headers",
  promises: "only end-to-end headers that may come from outside go on, and a head has one meaning",
  maxBytes: 4_096,
  words: [
    ...atMostOnce,
    ..."Connection Keep-Alive TE Trailer Upgrade Expect X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Start-Time".split(
      " ",
    ),
    ..."X-Function-Status X-Call-Attempt Weir-Invoke Proxy-Authorization chunked close 100-continue websocket _ - : ,".split(
      " ",
    ),
    "\n",
  ],
  seeds: [
    "Host: g\nAccept: a\nConnection: keep-alive, X-Gone\nX-Gone: 1\nX-Forwarded-For: 6.6.6.6",
    "Host: g\nContent-Length: 3\nX_Call_Id: x\nWeir-Invoke: k\nX-Call-Attempt: 2",
    "Host: g\nTransfer-Encoding: chunked\nX-Call-Id: 0AF76519-16cd-43dd-8448-eb211c80319c\nX-Call-Depth: 3",
    "Host: g\nExpect: 100-continue\nX-Function-Status: 200\nX-Start-Time: 1\nUpgrade: websocket\nConnection: upgrade",
    "Host: g\nX-Forwarded_For: 1\nx_forwarded-proto: https\nContent_Length: 9",
  ],
  run: (input) => {
    const raw = latin1(input)
      .split("\n")
      .flatMap((line) => {
        const colon = line.indexOf(":");
        return colon < 1 ? [] : [line.slice(0, colon), line.slice(colon + 1).trim()];
      });
    checkRequestHead(raw, false);
    checkRequestHead(raw, true);
    checkReplyHeaders(raw);
  },
};
