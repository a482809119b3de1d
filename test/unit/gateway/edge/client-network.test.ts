import { expect, test } from "vitest";

import { networkOf } from "../../../../runtime/gateway/edge/client-network.ts";
import { ClientLimit } from "../../../../runtime/gateway/edge/client-limit.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8:1::6", "2001:db8:1:0"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
])("%s counts as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test("a client has a limited number of connections, and gets another when one of its own ends", () => {
  const limit = new ClientLimit(2, (address) => address === "127.0.0.1");
  const first = limit.take("2001:db8:1:2::1");
  expect(limit.take("2001:db8:1:2::ffff")).toBeDefined();
  expect(limit.take("2001:db8:1:2:a::")).toBeUndefined();
  expect(limit.take("2001:db8:1:3::1")).toBeDefined();
  for (let count = 0; count < 10; count += 1) expect(limit.take("127.0.0.1")).toBeDefined();
  first?.();
  expect(limit.take("2001:db8:1:2:a::")).toBeDefined();
  expect(limit.take("2001:db8:1:2:b::")).toBeUndefined();
});

test("0 means no limit", () => {
  const limit = new ClientLimit(0, () => false);
  for (let count = 0; count < 100; count += 1) expect(limit.take("192.0.2.1")).toBeDefined();
});
