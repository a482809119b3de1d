import { isDeepStrictEqual } from "node:util";

import { formatCall, headerMap, messageHeader, parseCall } from "../../../runtime/adapters/nats/queues/call-message.ts";
import { isFunctionName, isNamespaceName, parseCallId } from "../../../runtime/api/grammar.ts";
import { latin1, mustHold, type FuzzTarget } from "../fuzz-target.ts";

/** Throws unless a message is found unreadable, or read, and survives being written and read again. */
export function checkMessage(headers: ReadonlyMap<string, string>, body: Uint8Array): void {
  const outcome = parseCall("default", headers, body);
  if ("unreadable" in outcome) {
    mustHold(outcome.unreadable !== "", "no reason is given");
    return;
  }
  const { read } = outcome;
  mustHold(isFunctionName(read.function.name) && isNamespaceName(read.function.namespace), "the function is no name");
  mustHold(parseCallId(read.id) === read.id, "the id is no UUID");
  mustHold(read.path === "" || read.path.startsWith("/"), "the path leaves the function");
  mustHold(Number.isSafeInteger(read.depth) && read.depth >= 0 && read.start >= 0n, "a number is none");
  mustHold(read.headers.length % 2 === 0, "headers are no pairs");
  const written = headerMap(formatCall(read, read.id, "Q_default").decoded());
  for (const value of written.values()) mustHold(/^[\x20-\x7e]*$/.test(value), "a header of the message is not ASCII");
  const again = parseCall("default", written, body);
  mustHold("read" in again && isDeepStrictEqual(again.read, read), "what was written is read otherwise");
}

const good = [
  "Weir-Version:1",
  "Weir-Call:0af76519-16cd-43dd-8448-eb211c80319c",
  "Weir-Function:echo",
  "Weir-Namespace:functions",
  "Weir-Start:1767225600000000000",
  "Weir-Depth:0",
  "Weir-Method:POST",
  "Weir-Path:/a%2Fb",
  'Weir-Headers:["Accept","*/*","X-A","\\u00e9"]',
];

export const callMessage: FuzzTarget = {
  name: "call-message",
  promises: "parse(format(x)) is x; anything else is a call or a reason why it is none",
  maxBytes: 4_096,
  words: [
    ...Object.values(messageHeader),
    "\n",
    ":",
    '["a","b"]',
    '"',
    "\\u0000",
    "\\ud800",
    "\\r\\n",
    "[",
    "]",
    "{",
    "?",
    "/",
  ],
  seeds: [
    good.join("\n"),
    [...good, "Weir-Query:?x=1", "Weir-Callback:http://127.0.0.1/done"].join("\n"),
    [...good, "Weir-Parent:0af76519-16cd-43dd-8448-eb211c80319d", "Weir-Query:?"].join("\n"),
    "",
  ],
  run: (input) => {
    const headers = new Map<string, string>();
    for (const line of latin1(input).split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) headers.set(line.slice(0, colon), line.slice(colon + 1));
    }
    checkMessage(headers, input.subarray(0, 8));
  },
};
