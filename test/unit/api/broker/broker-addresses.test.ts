import { expect, test } from "vitest";

import { brokerAddresses, brokerPorts, isBrokerAddress } from "../../../../runtime/api/broker/broker-addresses.ts";

test("addresses are separated by commas and white space, each counts once", () => {
  expect(brokerAddresses(" nats://a:4222,tls://[::1]:4333 , b\n\tb,, nats://a:4222 ")).toEqual([
    "nats://a:4222",
    "tls://[::1]:4333",
    "b",
  ]);
  expect(brokerAddresses(" , ")).toEqual([]);
});

test.each(["nats://127.0.0.1:4222", "tls://nats-0.nats-headless.weir.svc", "b", "b:1", "[::1]:65535", "nats://[::1]"])(
  "%s is an address",
  (text) => {
    expect(isBrokerAddress(text)).toBe(true);
  },
);

test.each([
  "",
  "nats://",
  "http://b:4222",
  "b:0",
  "b:65536",
  "b:",
  "me:word@b:4222",
  "nats://b:4222/",
  "::1",
  "b-",
  "b,c",
])("%j is none", (text) => {
  expect(isBrokerAddress(text)).toBe(false);
});

test("the broker's ports are those of its addresses, and 4222 where one names none", () => {
  expect(brokerPorts("127.0.0.1:4444, nats://b:4333 nats://c,tls://d:4333")).toEqual([4444, 4333, 4222]);
});
