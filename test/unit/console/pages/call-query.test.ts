import { expect, test } from "vitest";

import {
  callListCommand,
  formatCallQuery,
  parseCallQuery,
  toggled,
} from "../../../../runtime/console/pages/calls/list/call-query.ts";

test("an address shows the list that it was made from", () => {
  const query = { function: "pay.dev", state: "queued,waiting", status: "5xx", since: "1h", id: "7f3c" };
  expect(formatCallQuery(query)).toBe("?function=pay.dev&state=queued,waiting&status=5xx&since=1h&id=7f3c");
  expect(parseCallQuery(formatCallQuery(query))).toEqual(query);
});

test("what is none of the list's, and what is empty, is left out", () => {
  expect(parseCallQuery("?function=&limit=3&after=x&state=%20failed%20")).toEqual({ state: "failed" });
  expect(formatCallQuery({ function: "" })).toBe("");
  expect(formatCallQuery({})).toBe("");
});

test("a value with marks of an address comes back as it was", () => {
  const query = { reason: "a&b=c#d%2C", until: "2026-01-31T12:00:00+01:00" };
  expect(parseCallQuery(formatCallQuery(query))).toEqual(query);
});

test("a state is added, and removed again", () => {
  const one = toggled({}, "state", "failed");
  const two = toggled(one, "state", "queued");
  expect([one.state, two.state]).toEqual(["failed", "failed,queued"]);
  expect(formatCallQuery(toggled(toggled(two, "state", "failed"), "state", "queued"))).toBe("");
});

test("the command lists the same, and quotes what a shell would read otherwise", () => {
  expect(callListCommand({ function: "hello", state: "failed,queued", since: "1h" })).toBe(
    "weir calls list --function hello --state failed,queued --since 1h",
  );
  expect(callListCommand({})).toBe("weir calls list");
  expect(callListCommand({ source: "replay" })).toBeUndefined();
  expect(callListCommand({ reason: "a; rm -rf '~'" })).toBe(String.raw`weir calls list --reason 'a; rm -rf '\''~'\'''`);
});
