import { Readable } from "node:stream";

import { expect, test } from "vitest";

import { judgeQueued } from "../../../../runtime/cli/calls/queue-call.ts";

const sent = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const other = "11111111-5c0e-4d7b-9a53-0f5d2f4f2f10";

test.each([
  ["an acceptance", 202, { "x-call-id": sent }, false, { step: "done", id: sent }],
  ["an acceptance under another id", 202, { "x-call-id": other.toUpperCase() }, false, { step: "done", id: other }],
  ["an acceptance with an id that is none", 202, { "x-call-id": "\u001b[2J" }, false, { step: "done", id: sent }],
  ["a refusal", 404, {}, false, { step: "refused" }],
  ["a full queue", 429, { "x-call-queued": "no", "retry-after": "5" }, false, { step: "refused" }],
  [
    "an unknown outcome",
    503,
    { "x-call-queued": "unknown", "retry-after": "2", "x-call-id": other },
    false,
    { step: "again", id: other, pause: 2_000 },
  ],
  [
    "an unknown outcome without a time",
    503,
    { "x-call-queued": "unknown" },
    false,
    { step: "again", id: sent, pause: 1_000 },
  ],
  [
    "a refusal after an unknown outcome: that one may be queued",
    503,
    { "x-call-queued": "no", "retry-after": "1" },
    true,
    { step: "again", id: sent, pause: 1_000 },
  ],
  ["an error of the gateway after an unknown outcome", 502, {}, true, { step: "again", id: sent, pause: 1_000 }],
  ["an error of the gateway", 502, {}, false, { step: "refused" }],
  ["another error after an unknown outcome", 404, {}, true, { step: "refused" }],
] as const)("%s", (_, status, headers, unsure, step) => {
  expect(judgeQueued({ status, headers, body: Readable.from([]) }, sent, unsure)).toEqual(step);
});
