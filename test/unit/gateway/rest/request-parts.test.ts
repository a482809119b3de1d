import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { readSettings } from "../../../../runtime/settings/read-settings.ts";
import { clientAddresses } from "../../../../runtime/gateway/edge/client-address.ts";
import { parseJsonBody } from "../../../../runtime/gateway/rest/json/json-body.ts";
import { parseQuery } from "../../../../runtime/gateway/rest/query.ts";
import { allowedMethods, routeTable } from "../../../../runtime/gateway/rest/route-table.ts";
import { gatewaySettings } from "../../../../runtime/gateway/settings.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const malformed = expect.objectContaining({ code: "malformed_request" });

describe("parseJsonBody()", () => {
  test("drops null members, keeps null items, gives objects without prototype", () => {
    const body = parseJsonBody(bytes('\ufeff {"a":null,"b":{"c":null,"toString":"x"},"d":[null]}'));
    expect(JSON.stringify(body)).toBe('{"b":{"toString":"x"},"d":[null]}');
    expect(Object.getPrototypeOf(body)).toBeNull();
  });

  test("only whitespace is no body", () => {
    expect(parseJsonBody(bytes(""))).toBeUndefined();
    expect(parseJsonBody(bytes(" \r\n\t"))).toBeUndefined();
  });

  test("brackets within strings do not nest", () => {
    expect(parseJsonBody(bytes(JSON.stringify(`\\"${"[".repeat(99)}`)))).toHaveLength(101);
  });

  test.each([
    "{",
    "[1,]",
    "{'a':1}",
    "\xff",
    `${"[".repeat(33)}${"]".repeat(33)}`,
    "[".repeat(2_000_000),
    '{"a":[{"constructor":{}}]}',
    '{"__proto__":1}',
  ])("%.40s is refused", (text) => {
    expect(() => parseJsonBody(Buffer.from(text, "latin1"))).toThrow(malformed);
  });

  test("any bytes give a value or a refusal, and no prototype is changed", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(bytes)), (input) => {
        try {
          parseJsonBody(input);
        } catch (err) {
          expect(err).toBeInstanceOf(PlatformError);
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});

test("parseQuery() takes the last of a repeated parameter, and changes no prototype", () => {
  expect({ ...parseQuery("a=1&b=%20x&a=2&c") }).toEqual({ a: "2", b: " x", c: "" });
  expect(Object.keys(parseQuery("__proto__=x"))).toEqual(["__proto__"]);
});

describe("clientAddresses()", () => {
  const clients = clientAddresses(["10.0.0.0/8", "192.168.1.1", "fd00::/8"]);

  test.each([
    ["203.0.113.9", "1.2.3.4", "203.0.113.9"],
    ["::ffff:203.0.113.9", undefined, "203.0.113.9"],
    ["10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"],
    ["10.0.0.1", "1.2.3.4, 10.9.9.9", "1.2.3.4"],
    ["10.0.0.1", "nonsense", "10.0.0.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["fd00::1", "2001:db8::1", "2001:db8:0:0:0:0:0:1"],
    [undefined, "1.2.3.4", ""],
  ])("peer %s, forwarded %s: %s", (peer, forwarded, client) => {
    expect(clients.of(peer, forwarded)).toBe(client);
  });

  test("invalid ranges fail the start", () => {
    for (const range of ["10.0.0.0/33", "host", "10.0.0", "", "10.0.0.0/x"]) {
      expect(() => clientAddresses([range]), range).toThrow(/^Cannot read trusted proxy/);
    }
  });
});

test("allowedMethods() knows paths with parameters, and no others", () => {
  expect(allowedMethods("/system/function/x", routeTable)).toEqual(["GET", "HEAD"]);
  expect(allowedMethods("/system/logs", routeTable)).toEqual(["GET"]);
  expect(allowedMethods("/system/function/", routeTable)).toEqual([]);
  expect(allowedMethods("/system/function/x/y", routeTable)).toEqual([]);
  expect(allowedMethods("/uis/a", routeTable)).toEqual([]);
});

test("a path that goes on has its methods at any length, but not without its slash", () => {
  const open = routeTable.filter(({ id }) => id === "leadToConsole");
  for (const path of ["/ui", "/ui/", "/ui/a", "/ui/a/b"]) expect(allowedMethods(path, open)).toEqual(["GET", "HEAD"]);
  for (const path of ["/", "/u", "/uis/a", "/a/ui/b"]) expect(allowedMethods(path, open)).toEqual([]);
});

test("the gateway starts with its defaults", () => {
  expect(readSettings(gatewaySettings, {})).toMatchObject({
    port: 8080,
    adminPort: 8082,
    functionNamespace: "functions",
    namespaceAliases: ["openfaas-fn"],
    upstreamTimeout: 30_000,
    callMaxAge: 7 * 24 * 3_600_000,
    basicAuth: true,
    edition: "enterprise",
  });
});
