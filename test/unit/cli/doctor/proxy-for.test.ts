import { describe, expect, test } from "vitest";

import { proxyFor } from "../../../../runtime/cli/doctor/proxy-for.ts";

const https = "https://weir.example.com";
const both = { HTTP_PROXY: "http://one:3128", HTTPS_PROXY: "http://two:3128" };

describe("the proxy", () => {
  test.each([
    ["none", https, {}, undefined],
    ["of https", https, both, "HTTPS_PROXY http://two:3128/"],
    ["of http", "http://weir.example.com", both, "HTTP_PROXY http://one:3128/"],
    ["of http for https, too, if it is alone", https, { HTTP_PROXY: "http://one:3128" }, "HTTP_PROXY http://one:3128/"],
    ["in small letters first", https, { ...both, https_proxy: "http://three" }, "https_proxy http://three/"],
    ["that is empty", https, { https_proxy: "", HTTPS_PROXY: "http://two:3128" }, undefined],
    ["of this machine", "http://127.0.0.1:8080", both, undefined],
  ])("%s", (_name, address, environment, expected) => {
    const found = proxyFor(address, environment);
    expect(found && `${found.variable} ${found.url.href}`).toBe(expected);
  });

  test.each([
    ["*", true],
    ["weir.example.com", true],
    ["WEIR.example.com.", true],
    ["example.com", true],
    [".example.com", true],
    ["*.example.com", true],
    ["*.weir.example.com", false],
    ["ample.com", false],
    ["other.org, example.com", true],
    ["weir.example.com:443", true],
    ["weir.example.com:8443", false],
    ["*:8443", false],
    ["", false],
  ])("is left out by NO_PROXY %s: %s", (list, isLeftOut) => {
    expect(proxyFor(https, { ...both, NO_PROXY: list }) === undefined).toBe(isLeftOut);
    expect(proxyFor(https, { ...both, no_proxy: list, NO_PROXY: "*" }) === undefined).toBe(isLeftOut);
  });

  test.each([
    ["2001:db8::1", true],
    ["[2001:db8::1]:8443", true],
    ["[2001:db8::1]:8444", false],
    ["2001:db8::2", false],
  ])("of an IPv6 address is left out by NO_PROXY %s: %s", (list, isLeftOut) => {
    const environment = { ...both, NO_PROXY: list };
    expect(proxyFor("https://[2001:db8::1]:8443", environment) === undefined).toBe(isLeftOut);
  });
});
