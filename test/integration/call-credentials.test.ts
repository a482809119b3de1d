import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { eventually } from "../support/eventually.ts";

const publicUrl = "https://weir.example.com";
const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = (header: object, payload: object): string => `Bearer ${part(header)}.${part(payload)}.c2ln`;

let platform: Platform;
let seen: FunctionServer;

beforeAll(async () => {
  seen = await openFunctionServer((_request, response) =>
    response.writeHead(401, { "X-Weir-Auth": "required", X_Weir_Auth: "required", "X-Own": "1" }).end("mine"),
  );
  platform = await openPlatform({ gatewayFlags: ["--public-url", publicUrl] });
  await platform.deploy("open", { addresses: [seen.address] });
  await platform.deploy("closed", { addresses: [seen.address], annotations: { "com.service.auth": "required" } });
});
afterAll(async () => {
  await platform?.close();
  await seen?.close();
});

const call = (name: string, authorization: string | undefined, path = "/function/") =>
  platform.calls.send("POST", `${path}${name}`, {
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      "X-Auth-Subject": "forged",
      "X-Weir-Auth": "forged",
    },
    body: "x",
  });
const last = () => seen.requests.at(-1)?.headers ?? {};

describe("a function that asks for no credentials", () => {
  test.each([
    ["the platform's credentials", () => platform.authorization],
    ["the platform's user with another password", () => basic(`${platform.user}:guess`)],
    ["the platform's user in another spelling", () => basic(`${platform.user}:guess`).replace("Basic ", "bASIC   ")],
    ["a token of this gateway", () => token({ alg: "ES256" }, { iss: publicUrl })],
    [
      "a token of a type of ours",
      () => token({ alg: "ES256", typ: "weir-function+jwt" }, { iss: "https://a.example" }),
    ],
  ])("never gets %s, called either way, and no caller learns whether they are valid", async (_name, authorization) => {
    const reply = await call("open", authorization());
    expect(reply.status).toBe(401);
    expect(last()["authorization"]).toBeUndefined();
    const before = seen.requests.length;
    expect((await call("open", authorization(), "/async-function/")).status).toBe(202);
    await eventually(() => seen.requests.length > before, { what: "the queued call" });
    expect(last()["authorization"]).toBeUndefined();
  });

  test.each([
    ["another user", basic("someone:else")],
    ["a token of another issuer", token({ alg: "ES256" }, { iss: "https://elsewhere.example" })],
    ["an invalid token", "Bearer abc"],
  ])("gets credentials that are not the gateway's: %s", async (_name, authorization) => {
    await call("open", authorization);
    expect(last()["authorization"]).toBe(authorization);
  });

  test("cannot pretend that the gateway asks, and learns who calls from the gateway alone", async () => {
    const reply = await call("open", undefined);
    expect(reply.status).toBe(401);
    expect(reply.body.toString()).toBe("mine");
    expect(reply.headers.get("x-weir-auth")).toBeNull();
    expect(reply.headers.get("x_weir_auth")).toBeNull();
    expect(reply.headers.get("x-own")).toBe("1");
    expect(last()).not.toHaveProperty("x-auth-subject");
    expect(last()).not.toHaveProperty("x-weir-auth");
  });
});

describe("a function that asks for credentials", () => {
  test("is called only with the right ones, and the 401 says who asks", async () => {
    for (const path of ["/function/", "/async-function/"]) {
      const refused = await call("closed", undefined, path);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("x-weir-auth")).toBe("required");
      expect(refused.body.toString()).toBe("invalid credentials");
    }
    const before = seen.requests.length;
    const reply = await call("closed", platform.authorization);
    expect(reply.body.toString()).toBe("mine");
    expect(reply.headers.get("x-weir-auth")).toBeNull();
    expect(seen.requests.length).toBe(before + 1);
    expect(last()["authorization"]).toBeUndefined();
  });

  test("is no oracle: after 20 wrong passwords others stay 401, /system replies 429 to them, and the right one passes", async () => {
    // This test must be the last: from here on wrong passwords of its address are refused for a minute.
    for (let count = 0; count < 20; count += 1)
      expect((await call("closed", basic(`${platform.user}:guess ${count}`))).status).toBe(401);
    const before = seen.requests.length;
    const wrong = basic(`${platform.user}:guess 21`);
    const again = await call("closed", wrong);
    expect([again.status, again.body.toString()]).toEqual([401, "invalid credentials"]);
    expect(seen.requests.length).toBe(before);
    const system = (authorization: string) =>
      platform.calls.send("GET", "/system/info", { headers: { authorization } });
    expect((await system(wrong)).status).toBe(429);
    expect((await call("closed", platform.authorization)).body.toString()).toBe("mine");
    expect((await system(platform.authorization)).status).toBe(200);
    expect((await call("open", undefined)).body.toString()).toBe("mine");
  });
});
