import { describe, expect, test } from "vitest";

import { gatewayAddress, isLoopbackAddress } from "../../../../runtime/cli/gateways/gateway-address.ts";

test.each([
  ["https://Weir.Example.com", "https://weir.example.com"],
  ["https://weir.example.com:443/", "https://weir.example.com"],
  ["http://weir.example.com:80", "http://weir.example.com"],
  ["https://weir.example.com/team//", "https://weir.example.com/team"],
  ["HTTPS://weir.example.com:8443", "https://weir.example.com:8443"],
  ["weir.example.com", "https://weir.example.com"],
  ["weir.example.com:8080", "https://weir.example.com:8080"],
  ["localhost:8080", "http://localhost:8080"],
  ["127.0.0.1", "http://127.0.0.1"],
  ["[::1]:8080/x", "http://[::1]:8080/x"],
])("%s is %s", (text, address) => {
  expect(gatewayAddress(text, "--gateway")).toBe(address);
});

test.each([
  ["", "it is not a URL"],
  ["http://", "it is not a URL"],
  ["http://a b", "it is not a URL"],
  ["ftp://weir.example.com", "its scheme is neither http nor https"],
  ["https://weir.example.com?x=1", "it has a query or fragment"],
  ["https://weir.example.com#x", "it has a query or fragment"],
])("%j is refused", (text, reason) => {
  expect(() => gatewayAddress(text, "--gateway")).toThrow(
    expect.objectContaining({ exit: 2, message: `Cannot use gateway "${text}" of --gateway: ${reason}` }),
  );
});

test.each(["https://admin:s3cret@weir.example.com", "admin:s3cret@weir.example.com", "https://s3cret@h"])(
  "credentials in %s are refused and not repeated",
  (text) => {
    expect(() => gatewayAddress(text, "--gateway")).toThrow(
      expect.objectContaining({ exit: 2, message: expect.not.stringContaining("s3cret") as string }),
    );
    expect(() => gatewayAddress(text, "--gateway")).toThrow("credentials do not belong into an address");
  },
);

describe("this machine", () => {
  test.each(["http://localhost", "http://127.0.0.1:8080", "https://127.3.2.1", "http://[::1]:1"])(
    "is %s",
    (address) => {
      expect(isLoopbackAddress(address)).toBe(true);
    },
  );

  test.each(["http://localhost.example.com", "http://127.0.0.1.example.com", "https://10.0.0.1", "http://[::2]"])(
    "is not %s",
    (address) => {
      expect(isLoopbackAddress(address)).toBe(false);
    },
  );
});
