import { createHash } from "node:crypto";
import { expect, test } from "vitest";

import { passwordPlace, startPage } from "../../../../runtime/gateway/rest/start-page.ts";

test.each([
  ["process", "hello:1", { directory: ".weir/credentials" }, "P=$(cat .weir/credentials/basic-auth-password)"],
  ["docker", "weir-base:", { directory: "my data/credentials" }, "P=$(cat 'my data/credentials/basic-auth-password')"],
  ["kubernetes", "weir-base:", { namespace: "functions-eu" }, "P=$(kubectl -n functions-eu get secret basic-auth"],
])("on %s the first function has image %s, with the password of %j", (orchestration, image, password, command) => {
  const { html } = startPage({ address: "https://weir.example.com", orchestration, password });
  expect(html).toContain(`&quot;image&quot;:&quot;${image}`);
  expect(html).toContain(command);
  expect(html).toContain("curl -u admin:$P -X PUT https://weir.example.com/system/functions");
  expect(html).toContain("curl https://weir.example.com/function/hello");
});

test("the password is read from where the settings say", () => {
  const settings = { platformNamespace: "functions-eu", secretMountPath: "data/credentials" };
  expect(passwordPlace("kubernetes", settings)).toEqual({ namespace: "functions-eu" });
  expect(passwordPlace("docker", settings)).toEqual({ directory: "data/credentials" });
});

test("an address is escaped, and only the page's own style is allowed", () => {
  const { html, policy } = startPage({
    address: 'https://x/"><script>',
    orchestration: "process",
    password: { directory: "<script>" },
  });
  expect(html).not.toContain("<script");
  const style = /<style>(.*)<\/style>/s.exec(html)?.[1] ?? "";
  expect(policy).toContain("default-src 'none';");
  expect(policy).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`);
  expect(html).not.toContain(" style=");
});
