import { createHash, randomUUID } from "node:crypto";

import fc from "fast-check";
import { expect, test } from "vitest";

import { parseCallId } from "../../../../runtime/api/grammar.ts";
import { callDigest, derivedCallId, uuid5 } from "../../../../runtime/core/calls/call-digest.ts";
import type { QueuedCall } from "../../../../runtime/core/calls/call.ts";
import { sampleCall } from "../../../contract/samples.ts";

const call = sampleCall();

test.each<[string, Partial<QueuedCall>]>([
  ["namespace", { function: { namespace: "other", name: "echo" } }],
  ["function", { function: { namespace: "functions", name: "other" } }],
  ["a letter that moves from namespace to function", { function: { namespace: "function", name: "secho" } }],
  ["path", { path: "/a/b" }],
  ["no path", { path: "" }],
  ["query", { query: "x=2&y" }],
  ["no query", { query: undefined }],
  ["a bare ?", { query: "" }],
  ["a letter that moves from path to query", { path: "/a%2Fbx", query: "=1&y" }],
  ["callback URL", { callbackUrl: "https://example.com/other" }],
  ["no callback URL", { callbackUrl: undefined }],
  ["body", { body: Buffer.from([0, 255, 13, 10, 129]) }],
  ["an empty body", { body: Buffer.alloc(0) }],
  ["principal", { headers: ["X-Auth-Subject", "fed:alice"] }],
])("differs for another %s", (_name, over) => {
  expect(callDigest({ ...call, ...over })).not.toBe(callDigest(call));
});

test("is the same for what is not part of the call: id, start, headers, depth, parent", () => {
  const again = { ...call, id: randomUUID(), start: 5n, headers: [], depth: 7, parentId: randomUUID() };
  expect(callDigest(again)).toBe(callDigest(call));
  expect(callDigest(call)).toMatch(/^[\w-]{43}$/);
});

test("differs for another subject or issuer, and not for other claims", () => {
  const sentBy = (subject: string, issuer?: string, claims = "e30") =>
    callDigest({
      ...call,
      headers: [
        "x-auth-subject",
        subject,
        ...(issuer === undefined ? [] : ["X-Auth-Issuer", issuer]),
        "X-Auth-Claims",
        claims,
      ],
    });
  const digests = [
    sentBy("fed:alice", "https://a.example"),
    sentBy("fed:alice", "https://b.example"),
    sentBy("fed:bob", "https://a.example"),
    sentBy("fed:alice"),
    sentBy(`${"s".repeat(300)}1`),
    sentBy(`${"s".repeat(300)}2`),
  ];
  expect(new Set(digests).size).toBe(digests.length);
  expect(sentBy("fed:alice", "https://a.example", "e31")).toBe(digests[0]);
});

test("no two different calls share a digest, however their parts are divided", () => {
  const parts = fc.record({
    path: fc.stringMatching(/^[a-c0-9:]{0,4}$/),
    query: fc.stringMatching(/^[a-c0-9:]{0,4}$/),
    url: fc.stringMatching(/^[a-c0-9:]{0,4}$/),
  });
  const digest = ({ path, query, url }: { path: string; query: string; url: string }) =>
    callDigest({ ...call, path, query, callbackUrl: url === "" ? undefined : url });
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      expect(digest(a) === digest(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
    { numRuns: 500 },
  );
});

test("derived ids are UUIDs of version 5, are equal for repeats and differ by id and digest", () => {
  const id = randomUUID();
  const derived = derivedCallId(id, "digest");
  expect(parseCallId(derived)).toBe(derived);
  expect(derived).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(derivedCallId(id, "digest")).toBe(derived);
  expect(derivedCallId(id, "other")).not.toBe(derived);
  expect(derivedCallId(randomUUID(), "digest")).not.toBe(derived);
  expect(uuid5("default\n1")).not.toBe(uuid5("default\n11"));
});

test("digests and derived ids are the same in every version, as records of the previous one still exist", () => {
  const fixed = sampleCall({ body: Buffer.from("hello") });
  expect(callDigest(fixed)).toBe("WQHOI6uOaSMXKtyiVzteMjZbDGXkBOzpJKevb_eCiTo");
  expect(callDigest({ ...fixed, query: undefined, callbackUrl: undefined, body: Buffer.alloc(0) })).toBe(
    "HMM_lP8T3OGCQaQE9zMlVZKV3riR4-9MI9uMtL8PHnc",
  );
  expect(derivedCallId("6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1", "digest")).toBe("e6edc598-00a6-5f21-acdb-848c6ae77580");
});

test("no query differs from an empty one", () => {
  expect(callDigest({ ...call, query: undefined })).not.toBe(callDigest({ ...call, query: "" }));
});

test("stays the same from release to release: it is kept in records", () => {
  const plain = {
    ...call,
    path: "/a",
    query: undefined,
    callbackUrl: undefined,
    headers: [],
    body: Buffer.from("hello"),
  };
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
  expect(callDigest(plain)).toBe(sha256("9:functions4:echo2:/a1:\u00000:5:hello"));
  expect(callDigest({ ...plain, query: "x=1", callbackUrl: "https://a.example" })).toBe(
    sha256("9:functions4:echo2:/a3:x=117:https://a.example5:hello"),
  );
  expect(callDigest({ ...plain, headers: ["X-Auth-Subject", "admin"] })).toBe(
    sha256("9:functions4:echo2:/a1:\u00000:5:admin0:5:hello"),
  );
});
