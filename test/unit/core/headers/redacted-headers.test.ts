import { expect, test } from "vitest";

import { redactedHeaders } from "../../../../runtime/core/headers/redacted-headers.ts";

test.each(["Authorization", "cookie", "Set-Cookie", "Proxy-Authorization", "X-Api-Key", "x-my-token", "Client-Secret"])(
  "the value of %s is not shown",
  (name) => expect(redactedHeaders([name, "hidden"])).toEqual([name, "[redacted]"]),
);

test("other values are shown, also where a value looks like such a name", () => {
  const headers = ["Accept", "token", "X-Own", "Authorization", "X-Cookie", "a", "Cookie-Consent", "b"];
  expect(redactedHeaders(headers)).toEqual(headers);
});
