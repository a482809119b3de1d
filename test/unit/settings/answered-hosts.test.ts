import { expect, test } from "vitest";

import { answeredHosts, hostsOf } from "../../../runtime/settings/answered-hosts.ts";

const names = ["faas.example.com", "*.dev.example.com", "192.168.1.5", ...hostsOf(["https://Weir.example:8443/x"])];
const answers = answeredHosts(names);

test.each([
  "",
  "localhost",
  "LOCALHOST:8080",
  "localhost.:1",
  "shop.localhost:8080",
  "127.0.0.1:8080",
  "127.1.2.3",
  "[::1]",
  "[::1]:8080",
  "weir:8080",
  "faas.example.com",
  "FAAS.example.com.:443",
  "a.b.dev.example.com",
  "weir.example:8443",
  "192.168.1.5:8080",
])("%j is answered", (host) => {
  expect(answers(host)).toBe(true);
});

test.each([
  "evil.example",
  "evil.example:8080",
  "127.0.0.1.evil.example",
  "127.0.0.1.nip.io:8080",
  "localhost.evil.example",
  "evillocalhost.example",
  "evil%2Eexample",
  "faas.example.com.evil.example",
  "dev.example.com",
  "evildev.example.com",
  "192.168.1.6",
  "[::2]",
  "[::ffff:7f00:1]",
  "0.0.0.0:8080",
])("%j is not", (host) => {
  expect(answers(host)).toBe(false);
});
