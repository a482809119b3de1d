import { expect, test } from "vitest";

import { consoleOriginOf } from "../../../../runtime/gateway/console-port/console-origin.ts";

const loopback = { consoleOrigins: [], consolePort: 8081, isSecure: false };

test.each([
  ["127.0.0.1:8080", "http://127.0.0.1:8081"],
  ["localhost:8080", "http://localhost:8081"],
  ["LOCALHOST", "http://localhost:8081"],
  ["[::1]:8080", "http://[::1]:8081"],
  // Nobody else's name leads a browser elsewhere.
  ["evil.example:8080", "http://127.0.0.1:8081"],
  ["127.0.0.2:8080", "http://127.0.0.1:8081"],
  ["user@localhost", "http://localhost:8081"],
  ["not a host", "http://127.0.0.1:8081"],
  [undefined, "http://127.0.0.1:8081"],
])("on loopback, %j leads to %s", (host, origin) => {
  expect(consoleOriginOf(loopback, host)).toBe(origin);
});

test("it speaks TLS where the gateway does, and leaves out the port of the scheme", () => {
  expect(consoleOriginOf({ ...loopback, isSecure: true, consolePort: 443 }, "localhost")).toBe("https://localhost");
});

test("the first origin of the setting counts, whatever the host", () => {
  const set = { ...loopback, consoleOrigins: ["https://console.example/", "http://localhost:8081"] };
  expect(consoleOriginOf(set, "localhost:8080")).toBe("https://console.example");
});
