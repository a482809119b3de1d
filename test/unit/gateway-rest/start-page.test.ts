import { createHash } from "node:crypto";
import { expect, test } from "vitest";

import { startPage } from "../../../runtime/gateway/start-page.ts";

test.each([
  ["process", "hello:1", "cat .weir/credentials/basic-auth-password"],
  ["docker", "weir-base:", "cat .weir/credentials/basic-auth-password"],
  ["kubernetes", "weir-base:", "kubectl -n weir get secret basic-auth"],
])("on %s a first function is of image %s, and the password comes from %s", (orchestration, image, password) => {
  const { html } = startPage({ address: "https://weir.example.com", orchestration });
  expect(html).toContain(`&quot;image&quot;:&quot;${image}`);
  expect(html).toContain(password);
  expect(html).toContain("curl -u admin:$P -X PUT https://weir.example.com/system/functions");
  expect(html).toContain("curl https://weir.example.com/function/hello");
});

test("an address is text, whatever is in it, and nothing but the page's own style is allowed", () => {
  const { html, policy } = startPage({ address: 'https://x/"><script>', orchestration: "process" });
  expect(html).not.toContain("<script");
  const style = /<style>(.*)<\/style>/s.exec(html)?.[1] ?? "";
  expect(policy).toContain("default-src 'none';");
  expect(policy).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`);
  expect(html).not.toContain(" style=");
});
