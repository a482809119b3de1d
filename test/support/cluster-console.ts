import { request } from "undici";
import { expect, test } from "vitest";

import type { ClusterPlatform } from "./cluster-platform.ts";

/** The origin that browsers see through `kubectl port-forward`. */
const origin = "http://127.0.0.1:8081";

/** Tests of the console of a platform whose `console.port` is 8081, through its Service. */
export function testClusterConsole(platform: () => ClusterPlatform): void {
  const ask = async (
    path: string,
    { method = "GET", body, headers = {} }: { method?: string; body?: object; headers?: Record<string, string> } = {},
  ) => {
    const { cluster } = platform();
    const service = ["get", "service", "gateway-console", "--output=jsonpath={.spec.clusterIP}"];
    const address = await cluster.kubectl([...service, `--namespace=${platform().namespace}`]);
    const { host } = new URL(origin);
    const sender = { "sec-fetch-site": "same-origin", origin };
    const response = await request(`http://${address}:8081${path}`, {
      method,
      headers: { host, "content-type": "application/json", ...sender, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  };

  test("its pages are in the image, and it serves no function", async () => {
    const page = await ask("/ui/calls");
    expect(page.status).toBe(200);
    expect(page.headers["content-security-policy"]).toContain("require-trusted-types-for 'script'");
    const [, script = ""] = /<script[^>]* src="([^"]+)"/.exec(page.text) ?? [];
    expect(await ask(script)).toMatchObject({
      status: 200,
      headers: { "content-type": "text/javascript; charset=utf-8" },
    });
    expect((await ask("/function/steady", { method: "POST" })).status).toBe(404);
  });

  test("an administrator signs in, and is told where the gateway is", async () => {
    const [user = "", password = ""] = Buffer.from(platform().authorization.slice("Basic ".length), "base64")
      .toString()
      .split(":");
    expect((await ask("/auth/session", { method: "POST", body: { user, password: "no" } })).status).toBe(401);
    const signedIn = await ask("/auth/session", { method: "POST", body: { user, password } });
    expect(signedIn.status).toBe(204);
    const [cookie = ""] = [signedIn.headers["set-cookie"] ?? []].flat().filter((each) => !each.includes("Max-Age=0"));
    const half = String(signedIn.headers["x-weir-session"]);
    const headers = { cookie: cookie.split(";", 1).join(""), "x-weir-session": half };
    const session = await ask("/auth/session", { headers });
    expect(session.status).toBe(200);
    expect(JSON.parse(session.text)).toMatchObject({ user, gateway: expect.stringMatching(/^http:\/\/./) as string });
    const functions = await ask("/system/functions", { headers });
    expect(functions.status).toBe(200);
  });
}
