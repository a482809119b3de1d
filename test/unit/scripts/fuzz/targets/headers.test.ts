import fc from "fast-check";
import { expect, test } from "vitest";

import { header } from "../../../../../runtime/api/names.ts";
import { readRequestHead } from "../../../../../runtime/gateway/edge/read-request-head.ts";
import { replyHeaders } from "../../../../support/reply-headers.ts";
import { checkReplyHeaders, checkRequestHead } from "../../../../../scripts/fuzz/targets/headers.ts";

const known = fc.constantFrom(
  ...Object.values(header),
  ..."Host Connection Keep-Alive TE Trailer Upgrade Expect Content-Length Transfer-Encoding Content-Type Authorization".split(
    " ",
  ),
  ..."Proxy-Authorization Proxy-Connection Weir-Invoke Weir-Other X-Forwarded-Port traceparent Cookie".split(" "),
);
/** The name in another case, sometimes with `_` for `-`. */
const spelt = fc
  .tuple(known, fc.constantFrom("as is", "lower", "upper"), fc.boolean())
  .map(([name, way, underscores]) => {
    const cased = way === "as is" ? name : way === "lower" ? name.toLowerCase() : name.toUpperCase();
    return underscores ? cased.replace("-", "_") : cased;
  });
const own = fc.stringMatching(/^[Aa]-[a-z0-9]{1,8}$/);
const value = fc.oneof(
  fc.stringMatching(/^[!-~]{0,20}$/),
  fc.constantFrom("chunked", "3", "close", "keep-alive", "100-continue", "websocket", "a-b, close", "x-call-id"),
);
const headers = fc.array(fc.tuple(fc.oneof(spelt, own), value), { maxLength: 12 });
const list = headers.map((pairs) => pairs.flat());

test("of any request head only headers that clients may send are passed on", () => {
  fc.assert(
    fc.property(list, fc.boolean(), fc.boolean(), (raw, withHost, trusted) =>
      checkRequestHead(withHost ? ["Host", "g", ...raw] : raw, trusted),
    ),
    { numRuns: 1_000 },
  );
});

test("end-to-end headers arrive as they were sent", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(own, value), { maxLength: 12 }), (pairs) => {
      const raw = pairs.flat();
      expect(readRequestHead(["Host", "g", ...raw], "10.0.0.9").forward.list.slice(0, raw.length)).toEqual(raw);
      expect(replyHeaders(200, raw, { callId: "i", startTime: "1", duration: 1 }).slice(0, raw.length)).toEqual(raw);
    }),
  );
});

test("of any response only what concerns the client is passed on", () => {
  fc.assert(fc.property(list, checkReplyHeaders), { numRuns: 500 });
});
