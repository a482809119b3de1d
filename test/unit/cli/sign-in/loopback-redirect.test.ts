import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

import { request } from "undici";
import { describe, expect, test } from "vitest";

import { openLoopbackRedirect } from "../../../../runtime/cli/sign-in/loopback-redirect.ts";

const state = "the-state";

async function open() {
  const redirect = await openLoopbackRedirect(0, state);
  const never = new AbortController().signal;
  return {
    ...redirect,
    never,
    visit: async (url: string, headers: Readonly<Record<string, string>> = {}, method: "GET" | "POST" = "GET") => {
      const reply = await request(url, { method, headers });
      return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() };
    },
    [Symbol.asyncDispose]: () => redirect.close(),
  };
}

test("the visit with the state arrives, with all of its address, and is told so", async () => {
  await using at = await open();
  const arrival = at.arrival(at.never);
  const { status, headers, text } = await at.visit(`${at.uri}?code=a&state=${state}&iss=b`);
  expect([status, text]).toEqual([200, expect.stringContaining("You can close this page")]);
  expect(headers).toMatchObject({ "cache-control": "no-store", "content-security-policy": "default-src 'none'" });
  expect((await arrival).href).toBe(`${at.uri}?code=a&state=${state}&iss=b`);
});

test("other visits are refused, and do not arrive", async () => {
  await using at = await open();
  const arrival = at.arrival(at.never);
  const { host, origin } = new URL(at.uri);
  const good = `${at.uri}?state=${state}&code=x`;
  const refused = [
    at.visit(`${at.uri}?state=other`),
    at.visit(at.uri),
    at.visit(`${origin}/other?state=${state}`),
    at.visit(good, { host: "evil.example" }),
    at.visit(good, { host }, "POST"),
  ];
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  await at.visit(`${at.uri}?state=${state}&code=last`);
  expect((await arrival).searchParams.get("code")).toBe("last");
});

describe("waiting", () => {
  test("ends at the signal", async () => {
    await using at = await open();
    const stop = new AbortController();
    const arrival = at.arrival(stop.signal);
    stop.abort();
    await expect(arrival).rejects.toThrow("aborted");
    await expect(at.arrival(stop.signal)).rejects.toThrow("aborted");
  });

  test("on a port that is in use is exit code 2 with the flag, and why", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    try {
      await expect(openLoopbackRedirect(port, state)).rejects.toMatchObject({
        exit: 2,
        message: expect.stringMatching(
          new RegExp(String.raw`^Cannot use --callback-port ${port}: listen EADDRINUSE`),
        ) as string,
      });
    } finally {
      other.close();
      await once(other, "close");
    }
  });
});

test("nothing listens once it is closed", async () => {
  const redirect = await openLoopbackRedirect(0, state);
  await redirect.close();
  await expect(request(redirect.uri)).rejects.toThrow("ECONNREFUSED");
});
