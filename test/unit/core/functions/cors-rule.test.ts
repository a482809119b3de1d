import { expect, test } from "vitest";

import { functionLimits } from "../../../../runtime/core/functions/function-limits.ts";

const ruleOf = (cors: Record<string, string>) =>
  functionLimits({
    annotations: Object.fromEntries(Object.entries(cors).map(([name, value]) => [`com.service.cors.${name}`, value])),
  }).cors;

test("without annotations there is none, and with origins all methods and headers are allowed for ten minutes", () => {
  expect(ruleOf({})).toBeUndefined();
  expect(ruleOf({ origins: " https://a.example:8443 , http://localhost" })).toEqual({
    origins: ["https://a.example:8443", "http://localhost"],
    methods: "GET, HEAD, POST, PUT, PATCH, DELETE",
    headers: undefined,
    credentials: false,
    maxAgeSeconds: 600,
  });
});

test("each part can be narrowed", () => {
  const narrow = { origins: "*", methods: "POST", headers: "x-a,X-B", "max-age": "0", credentials: "false" };
  expect(ruleOf(narrow)).toEqual({
    origins: "*",
    methods: "POST",
    headers: "x-a, X-B",
    credentials: false,
    maxAgeSeconds: 0,
  });
  expect(ruleOf({ origins: "https://a.example, *", headers: "x-a, *" })).toMatchObject({ origins: "*" });
});

test.each([
  [{ origins: "app.example.com" }, /cors\.origins/],
  [{ origins: "https://a.example/path" }, /cors\.origins/],
  [{ origins: "https://A.example" }, /cors\.origins/],
  [{ origins: "*", methods: "post" }, /cors\.methods/],
  [{ origins: "*", headers: "x a" }, /cors\.headers/],
  [{ origins: "*", "max-age": "25h" }, /cors\.max-age/],
  [{ methods: "GET" }, /cors\.origins is missing/],
  [{ origins: "*", credentials: "true" }, /named origins only/],
])("%j is refused", (cors, sentence) => {
  expect(() => ruleOf(cors)).toThrow(sentence);
});
