import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  asciiJson,
  formatCall,
  headerMap,
  messageHeader,
  parseCall,
  parseHeaderList,
} from "../../../../../runtime/adapters/nats/queues/call-message.ts";
import type { QueuedCall } from "../../../../../runtime/core/calls/call.ts";
import { plain, sampleCall } from "../../../../contract/samples.ts";
import { anyCharacter } from "../../../../support/any-character.ts";

/** The call as it arrives from the wire. */
function transport(call: QueuedCall): ReadonlyMap<string, string> {
  return headerMap(formatCall(call, call.id, "Q_default").decoded());
}

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const printable = fc.stringMatching(/^[!-~]{0,80}$/);
const text = fc.string({ unit: anyCharacter, maxLength: 60 }).filter((value) => !/[\r\n\0]/.test(value));
const latin = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
});
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const id = fc.uuid();

const calls: fc.Arbitrary<QueuedCall> = fc.record({
  id,
  queue: fc.constant("default"),
  function: fc.record({ namespace: name, name }),
  start: fc.bigInt({ min: 0n, max: 99_999_999_999_999_999_999n }),
  depth: fc.nat(999_999),
  method: fc.constantFrom("POST", "PUT"),
  path: fc.oneof(
    fc.constant(""),
    printable.map((rest) => `/${rest}`),
  ),
  query: maybe(printable),
  callbackUrl: maybe(printable.filter((url) => url !== "")),
  parentId: maybe(id),
  headers: fc.array(fc.tuple(printable, fc.oneof(text, latin))).map((pairs) => pairs.flat()),
  body: fc.uint8Array({ maxLength: 200 }),
});

test("parse(format(call)) is the call", () => {
  fc.assert(
    fc.property(calls, (call) => {
      const parsed = parseCall("default", transport(call), call.body);
      if ("unreadable" in parsed) expect.fail(parsed.unreadable);
      expect(plain(parsed.read)).toEqual(plain(call));
    }),
    { numRuns: 500 },
  );
});

test("headers on the wire are ASCII, whatever the headers of the call", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter })), (list) => {
      expect(asciiJson(list)).toMatch(/^[\u0020-\u007e]*$/);
      expect(JSON.parse(asciiJson(list))).toEqual(list);
    }),
  );
});

describe("a malformed message has an outcome with a reason", () => {
  const good = transport(sampleCall());
  const with_ = (over: Record<string, string | undefined>): ReadonlyMap<string, string> => {
    const map = new Map(good);
    for (const [key, value] of Object.entries(over)) {
      if (value === undefined) map.delete(key);
      else map.set(key, value);
    }
    return map;
  };

  test.each(
    Object.values(messageHeader).filter(
      (key) => !["Nats-Msg-Id", "Nats-Expected-Stream", "Weir-Query", "Weir-Callback", "Weir-Parent"].includes(key),
    ),
  )("%s missing", (key) => {
    expect(parseCall("default", with_({ [key]: undefined }), Buffer.alloc(0))).toHaveProperty(
      "unreadable",
      expect.stringMatching(/./),
    );
  });

  test.each<[string, string]>([
    [messageHeader.version, "2"],
    [messageHeader.version, ""],
    [messageHeader.call, "6B1F7F6E-40A5-4A0E-9A53-3AD9F7A7F0D1"],
    [messageHeader.call, "no"],
    [messageHeader.function, "Not_A_Name"],
    [messageHeader.function, ""],
    [messageHeader.namespace, "a.b"],
    [messageHeader.start, "-1"],
    [messageHeader.start, "1e9"],
    [messageHeader.start, "9".repeat(21)],
    [messageHeader.depth, "deep"],
    [messageHeader.depth, "1".repeat(10)],
    [messageHeader.method, "post"],
    [messageHeader.path, "no-slash"],
    [messageHeader.path, "/a b"],
    [messageHeader.path, "/\u00e9"],
    [messageHeader.query, "x=1"],
    [messageHeader.query, "?a b"],
    [messageHeader.parent, "6B1F7F6E-40A5-4A0E-9A53-3AD9F7A7F0D1"],
    [messageHeader.headers, "{}"],
    [messageHeader.headers, '["a"]'],
    [messageHeader.headers, '["a",1]'],
    [messageHeader.headers, '["a","b\\r\\nc: d"]'],
    [messageHeader.headers, '["a","b'],
    [messageHeader.headers, "null"],
  ])("%s = %j", (key, value) => {
    expect(parseCall("default", with_({ [key]: value }), Buffer.alloc(0))).toHaveProperty(
      "unreadable",
      expect.stringMatching(/./),
    );
  });

  test("garbage never throws", () => {
    const known = fc.constantFrom(...Object.values(messageHeader));
    const value = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.json(),
      fc.constantFrom("1", "", "/", "POST", "echo", "[]"),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.oneof(known, fc.string()), value)), fc.boolean(), (pairs, onGood) => {
        const parsed = parseCall("default", new Map([...(onGood ? good : []), ...pairs]), Buffer.alloc(0));
        expect("read" in parsed || parsed.unreadable.length > 0).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test("a list of headers is flat, of even length, and of strings", () => {
    expect(parseHeaderList('["a","b","a",""]')).toEqual(["a", "b", "a", ""]);
    expect(parseHeaderList(undefined)).toBeUndefined();
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (value) => {
        const list = parseHeaderList(value);
        expect(list === undefined || (list.length % 2 === 0 && list.every((item) => typeof item === "string"))).toBe(
          true,
        );
      }),
    );
  });
});
