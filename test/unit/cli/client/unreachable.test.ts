import { describe, expect, test } from "vitest";

import { CliError } from "../../../../runtime/cli/cli-error.ts";
import { unreachable } from "../../../../runtime/cli/client/unreachable.ts";

function failure(code: string, message = "boom"): Error {
  return Object.assign(new Error(message), { code });
}

const address = "https://weir.example.com";
const start = `Cannot reach Weir at ${address}: `;

describe("why a gateway cannot be reached", () => {
  test.each([
    ["ECONNREFUSED", "nothing listens there"],
    ["ENOTFOUND", "its name has no address (ENOTFOUND)"],
    ["EAI_AGAIN", "its name has no address (EAI_AGAIN)"],
    ["ECONNRESET", "the connection was closed before a reply"],
    ["UND_ERR_SOCKET", "the connection was closed before a reply"],
    ["EHOSTUNREACH", "no way leads there (EHOSTUNREACH)"],
    ["ENETUNREACH", "no way leads there (ENETUNREACH)"],
    ["ETIMEDOUT", "it does not accept the connection"],
    ["UND_ERR_CONNECT_TIMEOUT", "it does not accept the connection"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "it does not speak TLS; is it http:// instead of https://?"],
    ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "it does not speak TLS; is it http:// instead of https://?"],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "no TLS session can be agreed on (boom)"],
    ["EPROTO", "no TLS session can be agreed on (boom)"],
    ["CERT_HAS_EXPIRED", "its certificate is not trusted (boom)"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is not trusted (boom)"],
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "its certificate is not trusted (boom); name a file with its authority with --ca-file",
    ],
    [
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "its certificate is not trusted (boom); name a file with its authority with --ca-file",
    ],
    ["EMFILE", "boom"],
  ])("%s is exit code 5", (code, reason) => {
    expect(unreachable(address, 1_000, failure(code))).toMatchObject({ exit: 5, message: `${start}${reason}` });
  });

  test("is found below other errors, of which the first of several addresses counts", () => {
    const cause = new Error("fetch failed", {
      cause: new AggregateError([failure("ECONNREFUSED"), failure("EHOSTUNREACH")]),
    });
    expect(unreachable(address, 1_000, cause).message).toBe(`${start}nothing listens there`);
  });

  test("names a command where one helps", () => {
    expect(unreachable("http://127.0.0.1:8080", 1_000, failure("ECONNREFUSED")).hint).toBe("weir dev");
    expect(unreachable(address, 1_000, failure("ECONNREFUSED")).hint).toBeUndefined();
  });

  test("may be another server, which no command of Weir starts", () => {
    expect(unreachable("http://127.0.0.1:8080", 1_000, failure("ECONNREFUSED"), "the issuer")).toMatchObject({
      message: "Cannot reach the issuer at http://127.0.0.1:8080: nothing listens there",
      hint: undefined,
    });
  });

  test("has nothing in it that moves the cursor", () => {
    const cause = failure("ERR_TLS_CERT_ALTNAME_INVALID", "not \u001B[2Jin\nthe list");
    expect(unreachable(address, 1_000, cause).message).toContain(String.raw`not \u001b[2Jin\nthe list`);
    expect(unreachable(address, 1_000, failure("E", "a\u001B[1m")).message).toContain(String.raw`a\u001b[1m`);
  });

  test("without advice about Node.js", () => {
    const cause = failure("DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate; try --use-system-ca");
    expect(unreachable(address, 1_000, cause).message).toContain("(self-signed certificate);");
  });
});

test("a time that is over is exit code 6", () => {
  expect(unreachable(address, 90_000, failure("UND_ERR_HEADERS_TIMEOUT"))).toMatchObject({
    exit: 6,
    message: `${start}no reply within 1m30s; the request may still be carried out`,
  });
});

test("Ctrl-C is exit code 130", () => {
  expect(unreachable(address, 1_000, new DOMException("aborted", "AbortError"))).toMatchObject({ exit: 130 });
  expect(unreachable(address, 1_000, "thrown")).toBeInstanceOf(CliError);
});
