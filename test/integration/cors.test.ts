import { describe, expect, test } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";

const page = "https://app.example.com";
const rule = { "com.service.auth": "required", "com.service.cors.origins": `${page}, https://b.example` };

describe("calls of functions by pages of other origins", () => {
  const fixture = syncFixture();

  /** A gateway whose protected functions nobody may call. */
  const open = async () => {
    const refuse = { authorise: refused };
    const gateway = await fixture.open({ invoker: refuse, invokeAsync: (...call) => invokeAsync(...call) });
    const invokeAsync = openMemoryAsyncInvoker(gateway.table, { admission: refuse });
    const fn = await fixture.serve((_request, response) => {
      response.writeHead(200, { "Access-Control-Allow-Origin": "https://other.example", "X-Own": "1" });
      response.end("called");
    });
    const deploy = (name: string, annotations: Record<string, string>) =>
      gateway.deploy(name, { addresses: [fn.address], annotations });
    const preflight = (path: string, origin = page, more: Record<string, string> = {}) =>
      sendVerbatim(gateway.port, {
        method: "OPTIONS",
        target: path,
        headers: Object.entries({ Origin: origin, "Access-Control-Request-Method": "POST", ...more }).flat(),
      });
    return { gateway, fn, deploy, preflight };
  };

  test("a preflight is answered by the function's rule, without credentials and without a call", async () => {
    const { fn, deploy, preflight } = await open();
    deploy("shop", {
      ...rule,
      "com.service.cors.credentials": "true",
      "com.service.cors.methods": "GET, POST",
      "com.service.cors.max-age": "1h",
    });
    for (const path of ["/function/shop/orders?x=1", "/function/shop.functions", "/async-function/shop"]) {
      const asked = { "Access-Control-Request-Headers": "authorization,x-mine" };
      const reply = await preflight(path, page.toUpperCase().replace("HTTPS", "https"), asked);
      expect([reply.status, await reply.text()]).toEqual([204, ""]);
      expect(allowed(reply)).toEqual({
        origin: page.toUpperCase().replace("HTTPS", "https"),
        methods: "GET, POST",
        headers: "authorization,x-mine",
        credentials: "true",
        "max-age": "3600",
      });
      expect(reply.headers.get("vary")).toContain("Origin");
    }
    expect(fn.requests).toEqual([]);
  });

  test("one of another page is refused, and so is one for a function without a rule that asks for a caller", async () => {
    const { deploy, preflight } = await open();
    deploy("shop", rule);
    deploy("bare", { "com.service.auth": "required" });
    const other = await preflight("/function/shop", "https://evil.example");
    expect([other.status, allowed(other)]).toEqual([403, {}]);
    expect(await other.text()).toBe(
      'Cannot answer a page of origin "https://evil.example": com.service.cors.origins of the function does not name it\n',
    );
    expect((await preflight("/function/bare")).status).toBe(401);
    expect((await preflight("/async-function/bare")).status).toBe(405);
    expect((await preflight("/function/unknown")).status).toBe(404);
  });

  test("a page may read the replies of the function, and the gateway's own errors", async () => {
    const { gateway, deploy } = await open();
    deploy("open", { "com.service.cors.origins": "*", "com.service.cors.headers": "x-a" });
    deploy("shop", rule);
    const ask = (path: string, headers: Record<string, string>) => fetch(`${gateway.base}${path}`, { headers });
    const read = await ask("/function/open", { origin: page });
    expect([read.status, allowed(read), read.headers.get("x-own")]).toEqual([200, { origin: "*" }, "1"]);
    expect(read.headers.get("access-control-expose-headers")).toContain("X-Call-Id");
    const refusal = await ask("/function/shop", { origin: page });
    expect([refusal.status, allowed(refusal)]).toEqual([401, { origin: page }]);
    const evil = await ask("/function/shop", { origin: "https://evil.example" });
    expect([evil.status, allowed(evil), evil.headers.get("vary")]).toEqual([401, {}, "Origin"]);
    const plain = await ask("/function/shop", {});
    expect([plain.status, allowed(plain), plain.headers.get("vary")]).toEqual([401, {}, "Origin"]);
  });

  test("a page may queue a call, look at it and read its result", async () => {
    const { gateway, deploy, preflight } = await open();
    deploy("open", { "com.service.cors.origins": page });
    const headers = { origin: page };
    const queued = await fetch(`${gateway.base}/async-function/open`, { method: "POST", headers });
    expect([queued.status, allowed(queued)]).toEqual([202, { origin: page }]);
    const path = `/async-function/${queued.headers.get("x-call-id")}`;
    expect(allowed(await preflight(path))).toMatchObject({ origin: page });
    const record = await fetch(`${gateway.base}${path}`, { headers });
    expect([record.status, allowed(record)]).toEqual([200, { origin: page }]);
    const result = await fetch(`${gateway.base}${path}/result`, { headers });
    expect([result.status, allowed(result)]).toEqual([409, { origin: page }]);
  });
});

function refused(): never {
  throw new PlatformError("credentials_required", "Cannot answer this request: it has no credentials");
}

/** What a reply allows pages, by the ends of the names of its headers. */
function allowed({ headers }: Response): Record<string, string> {
  const prefix = "access-control-allow-";
  return Object.fromEntries(
    [...headers].flatMap(([name, value]) => {
      if (name === "access-control-max-age") return [["max-age", value]];
      return name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [];
    }),
  );
}
