import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { openToAll } from "../../runtime/gateway/access/basic-auth.ts";
import { clientAddresses } from "../../runtime/gateway/edge/client-address.ts";
import { rawRequest } from "../support/raw-client.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

let platform: RestPlatform;

beforeAll(async () => {
  platform = await openRestPlatform();
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  platform.functions.clear();
  platform.secrets.clear();
  platform.endpoints.clear();
});

const hello = { service: "hello", image: "ghcr.io/acme/hello:1" };

describe("credentials", () => {
  test.each(["Bearer ", "Bearer abc", "Basic", "Basic !!", "Basic YQ==", "Digest x"])(
    "%j is 401 with the same text",
    async (authorization) => {
      const response = await fetch(`${platform.url}/system/info`, { headers: { authorization } });
      expect([response.status, await response.text()]).toEqual([401, "invalid credentials"]);
    },
  );

  test("missing and wrong ones have different codes", async () => {
    const accept = "application/problem+json";
    const missing = await fetch(`${platform.url}/system/info`, { headers: { accept, authorization: "Bearer " } });
    const wrong = await fetch(`${platform.url}/system/info`, { headers: { accept, authorization: "Basic eDp5" } });
    expect([await missing.json(), await wrong.json()]).toMatchObject([
      { code: "credentials_required" },
      { code: "credentials_invalid" },
    ]);
  });

  test("are not asked for with basic_auth=false; the origin is still checked", async () => {
    await using open = await openRestPlatform({ auth: openToAll });
    expect((await fetch(`${open.url}/system/info`)).status).toBe(200);
    expect((await fetch(`${open.url}/system/info`, { headers: { authorization: "Basic eDp5" } })).status).toBe(200);
    expect((await fetch(`${open.url}/system/info`, { headers: { origin: "https://evil.example" } })).status).toBe(403);
  });

  test.each(["evil.example", "127.0.0.1.evil.example"])(
    "a page is foreign even if the Host header repeats its name: %s",
    async (name) => {
      await using open = await openRestPlatform({ auth: openToAll });
      const host = `${name}:${open.port}`;
      for (const headers of [`Origin: http://${host}\r\n`, `Origin: https://${host}\r\nX-Forwarded-Proto: https\r\n`]) {
        const bytes = `GET /system/functions HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`;
        expect((await rawRequest(open.port, bytes)).status).toBe(403);
      }
    },
  );

  test("the 21st wrong one in a minute is 429 for its address and user, seen through trusted proxies", async () => {
    await using fresh = await openRestPlatform({
      origins: { allowed: new Set(), clients: clientAddresses(["127.0.0.1"]) },
    });
    const from = (client: string, authorization: string) =>
      fetch(`${fresh.url}/system/info`, { headers: { authorization, "x-forwarded-for": client } });
    const wrong = `Basic ${Buffer.from(`${fresh.user}:wrong`).toString("base64")}`;
    for (let count = 0; count < 25; count += 1) {
      expect((await from("1.1.1.1", "Bearer expired")).status).toBe(401);
      expect((await from("1.1.1.1", "Basic eDp5")).status).toBe(count < 20 ? 401 : 429);
      if (count < 20) expect((await from("1.1.1.1", wrong)).status).toBe(401);
    }
    const refused = await from("1.1.1.1", fresh.authorization);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(30);
    expect((await from("2.2.2.2", fresh.authorization)).status).toBe(200);
  });

  test("come after route and method, before origin, size and syntax", async () => {
    const send = (headers: Record<string, string>, body = "{") =>
      fetch(`${platform.url}/system/functions`, { method: "PUT", headers, body });
    const foreign = { origin: "https://evil.example" };
    const { authorization } = platform;
    const large = "x".repeat(2_097_153);
    expect((await send(foreign, large)).status).toBe(401);
    expect((await send({ authorization, ...foreign }, large)).status).toBe(403);
    expect((await send({ authorization, "content-encoding": "gzip" }, large)).status).toBe(413);
    expect((await send({ authorization })).status).toBe(400);
    expect(
      await platform.refusal("PUT", "/system/functions", {
        ...hello,
        namespace: "kube-system",
        limits: { memory: "lots" },
      }),
    ).toMatchObject({ status: 400 });
    expect(
      await platform.refusal("PUT", "/system/functions", { ...hello, namespace: "kube-system", secrets: ["nobody"] }),
    ).toMatchObject({ status: 403 });
  });

  test("an origin is the gateway's own, an allowed one, or 403", async () => {
    const from = async (origin: string) => (await platform.refusal("PUT", "/system/functions", "{", { origin })).code;
    expect(await from("https://evil.example")).toBe("cross_origin");
    expect(await from("null")).toBe("cross_origin");
    expect(await from(platform.url.replace("http:", "https:"))).toBe("cross_origin");
    expect(await from(platform.url)).toBe("malformed_request");
    expect(await from(platform.url.replace("127.0.0.1", "LOCALHOST"))).toBe("malformed_request");
    expect(await from("https://console.example")).toBe("malformed_request");
  });
});
