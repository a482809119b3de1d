import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { openRestPlatform } from "../support/rest-platform.ts";

test("the page at / has the address and commands, loads nothing, and reads the same by HEAD", async () => {
  await using platform = await openRestPlatform();
  const page = await fetch(`${platform.url}/`);
  const html = await page.text();
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(html).toContain("curl -u admin:$P -X PUT http://gateway.example:8080/system/functions -d '{");
  expect(html).toContain("P=$(cat data/credentials/basic-auth-password)");
  expect(html).toContain('href="/openapi.json"');
  const style = createHash("sha256")
    .update(/<style>(.*)<\/style>/s.exec(html)?.[1] ?? "")
    .digest("base64");
  const policy = page.headers.get("content-security-policy");
  expect(policy).toContain(`default-src 'none'; style-src 'sha256-${style}'`);
  const head = await fetch(`${platform.url}/`, { method: "HEAD" });
  expect([head.status, await head.text(), head.headers.get("content-security-policy")]).toEqual([200, "", policy]);
  expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(html)));
});
