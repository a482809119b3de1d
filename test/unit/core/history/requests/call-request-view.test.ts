import { Value } from "typebox/value";
import { expect, test } from "vitest";

import { CallRequest } from "../../../../../runtime/api/schemas/history/call-request.ts";
import { callRequestView } from "../../../../../runtime/core/history/requests/call-request-view.ts";
import { sampleCall } from "../../../../contract/samples.ts";

const headers = ["Content-Type", "text/plain", "X-Word", "one"];
const call = sampleCall({ path: "/a%2Fb", query: "x=1&y", headers, body: Buffer.from([0, 255, 13, 10, 128]) });

test("a kept request is shown as it was sent, its body in base64, with the names of what was left out", () => {
  const view = callRequestView({ call, redacted: ["authorization", "cookie"], expiresAt: 1_000 });
  expect(view).toStrictEqual({
    method: "POST",
    path: "/a%2Fb",
    query: "x=1&y",
    headers,
    body: "AP8NCoA=",
    redacted: ["authorization", "cookie"],
  });
  expect([...Value.Errors(CallRequest, view)]).toEqual([]);
});

test("a request without a query has none, one without a body an empty one", () => {
  const bare = { ...call, query: undefined, body: Buffer.alloc(0) };
  const view = callRequestView({ call: bare, redacted: [], expiresAt: 1_000 });
  expect(view).toStrictEqual({ method: "POST", path: "/a%2Fb", headers, body: "", redacted: [] });
});
