import { expect, test } from "vitest";

import type { ProbeResult } from "../../../../runtime/core/ports/prober.ts";
import { listensElsewhere, probeFault, type ProbeAsked } from "../../../../runtime/core/replicas/probe-fault.ts";

const connection: ProbeAsked = {
  address: "10.0.0.2:8080",
  path: undefined,
  protocol: "http1",
  timeout: 1_000,
  isFunctionPort: true,
};
const get = { ...connection, path: "/_/ready" };
const h2c = { ...connection, protocol: "h2c" } as const;
/** Under provider `local` the address is that of the watchdog. */
const watchdogGet = { ...get, isFunctionPort: false };
const nothing = "the process runs, but nothing listens on port 8080 ($PORT)";

test.each<[probe: ProbeAsked, result: ProbeResult, fault: string | undefined]>([
  [get, { kind: "passed" }, undefined],
  [connection, { kind: "refused" }, nothing],
  [get, { kind: "refused" }, nothing],
  [watchdogGet, { kind: "refused" }, "its watchdog does not listen"],
  [watchdogGet, { kind: "responded", status: 500 }, "GET /_/ready answered 500"],
  [watchdogGet, { kind: "silent" }, "GET /_/ready was not answered within 1s"],
  [{ ...h2c, isFunctionPort: false }, { kind: "silent" }, "it spoke no HTTP/2 within 1s"],
  [get, { kind: "responded", status: 404 }, "GET /_/ready on port 8080 answered 404"],
  [get, { kind: "silent" }, "GET /_/ready on port 8080 was not answered within 1s"],
  [connection, { kind: "silent" }, "port 8080 accepted no connection within 1s"],
  [h2c, { kind: "silent" }, "port 8080 spoke no HTTP/2 within 1s"],
  [get, { kind: "broken", words: "socket hang up" }, "GET /_/ready on port 8080 failed: socket hang up"],
  [connection, { kind: "broken", words: "no route" }, "port 8080 cannot be reached: no route"],
  [h2c, { kind: "broken", words: "it closed the connection" }, "port 8080 speaks no HTTP/2: it closed the connection"],
  [{ ...get, address: "[::1]:8080" }, { kind: "responded", status: 500 }, "GET /_/ready on port 8080 answered 500"],
])("%j %j", (probe, result, fault) => {
  expect(probeFault(probe, result)).toBe(fault);
});

test.each([
  [[], nothing],
  [["127.0.0.1:3000"], "the process runs and listens on 127.0.0.1:3000, but not on port 8080 ($PORT)"],
  [["[::1]:8080", "*:9000"], "the process runs and listens on [::1]:8080, *:9000, but not on 127.0.0.1:8080 ($PORT)"],
])("a process that listens on %j instead of its port", (found, sentence) => {
  expect(listensElsewhere("127.0.0.1:8080", "$PORT", found)).toBe(sentence);
});
