import { Readable } from "node:stream";

import { describe, expect, test } from "vitest";

import { refusal } from "../../../../runtime/cli/client/refusal.ts";
import type { CliError } from "../../../../runtime/cli/cli-error.ts";

const address = "https://weir.example.com";

function refused(status: number, type: string, body: string, headers: object = {}): Promise<CliError> {
  const reply = { status, headers: { "content-type": type, ...headers }, body: Readable.from([Buffer.from(body)]) };
  return refusal(address, "GET", "/system/functions", reply);
}

const problem = (status: number, code: string, detail: string) =>
  refused(status, "application/problem+json", JSON.stringify({ status, code, detail }));

describe("problem details", () => {
  test.each([
    [401, "credentials_required", 4, `weir login ${address}`],
    [401, "credentials_invalid", 4, `weir login ${address}`],
    [403, "forbidden", 4, "weir whoami"],
    [403, "edition_limit", 4, undefined],
    [404, "function_not_found", 3, "weir list"],
    [404, "namespace_not_found", 3, "weir namespaces list"],
    [404, "secret_not_found", 3, "weir secrets list"],
    [404, "queue_not_found", 3, "weir queues list"],
    [404, "call_not_found", 3, undefined],
    [429, "too_many_logins", 5, undefined],
    [503, "queue_unavailable", 5, "weir doctor"],
    [503, "provider_unavailable", 5, "weir doctor"],
    [400, "validation_failed", 1, undefined],
    [409, "namespace_exists", 1, "weir namespaces list"],
    [500, "internal_error", 1, undefined],
    [502, "a_code_of_tomorrow", 1, undefined],
    [404, "toString", 3, undefined],
  ])("%i %s is exit code %i, with the hint %s", async (status, code, exit, hint) => {
    const err = await problem(status, code, 'Cannot find function "a": it does not exist');
    expect(err).toMatchObject({ exit, code, message: 'Cannot find function "a": it does not exist' });
    expect(err.hint).toBe(hint);
  });

  test("show escapes instead of moving the cursor", async () => {
    const err = await problem(400, "validation_failed", "a\u001B[2J\u202Eb\nc\rd\u009B1m");
    expect(err.message).toBe(String.raw`a\u001b[2J\u202eb\nc\u000dd\u009b1m`);
  });
});

describe("other replies", () => {
  test.each([
    [502, "text/html", "<html>\n<h1>Bad Gateway</h1>", "it replied 502 Bad Gateway"],
    [503, "text/plain", "two\nlines", "it replied 503 Service Unavailable"],
    [599, "text/plain", "", "it replied 599"],
    [500, "application/json", "[]", "it replied 500 Internal Server Error"],
    [500, "application/json", '{"detail": 5', "it replied 500 Internal Server Error"],
    [500, "application/problem+json", '{"detail":"","code":7}', "it replied 500 Internal Server Error"],
  ])("%i %s %j is told in our words", async (status, type, body, reason) => {
    expect((await refused(status, type, body)).message).toBe(`Cannot GET /system/functions at ${address}: ${reason}`);
  });

  test("a line of text is the sentence", async () => {
    expect(await refused(403, "text/plain; charset=utf-8", "Cannot do that: no\n")).toMatchObject({
      exit: 4,
      message: "Cannot do that: no",
      code: undefined,
    });
  });

  test("401 without a code leads to login, too", async () => {
    expect((await refused(401, "text/plain", "invalid credentials")).hint).toBe(`weir login ${address}`);
  });

  test("a redirect is not followed, and says where it leads", async () => {
    const err = await refused(301, "text/html", "", {
      location: `https://evil.example.com/\u001B${"x".repeat(1_000)}`,
    });
    expect(err).toMatchObject({ exit: 1 });
    expect(err.message).toMatch(
      /: it leads to "https:\/\/evil\.example\.com\/\\u001bx{170,}", and no redirect is followed$/,
    );
    expect(err.message.length).toBeLessThan(400);
    expect((await refused(304, "text/html", "")).message).toContain("it replied 304 Not Modified");
  });

  test("an endless body is not read to its end", async () => {
    const body = new Readable({
      read() {
        this.push("x".repeat(1_024));
      },
    });
    const err = await refusal(address, "GET", "/", { status: 500, headers: {}, body });
    expect(err.message).toContain("it replied 500");
    expect(body.destroyed).toBe(true);
  });
});
