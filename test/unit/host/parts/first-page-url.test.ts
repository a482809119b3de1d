import { expect, test } from "vitest";

import { firstPageUrl } from "../../../../runtime/host/parts/first-page-url.ts";
import { hostSettings } from "../../../../runtime/host/settings.ts";
import { readSettings } from "../../../../runtime/settings/read-settings.ts";

const urlOf = (flags: Readonly<Record<string, string>>): string | undefined =>
  firstPageUrl(readSettings(hostSettings, { flags }));

test("one machine has a console on a port of its own, unless it is switched off", () => {
  expect(urlOf({})).toBe("http://127.0.0.1:8081/ui/");
  expect(urlOf({ "console-port": "9000" })).toBe("http://127.0.0.1:9000/ui/");
  expect(urlOf({ "console-port": "0" })).toBeUndefined();
});

test("its address is the first of its origins, with the scheme that it speaks", () => {
  expect(urlOf({ "console-origins": "https://a.example,https://b.example" })).toBe("https://a.example/ui/");
  expect(urlOf({ "tls-cert": "cert.pem", "tls-key": "key.pem" })).toBe("https://127.0.0.1:8081/ui/");
});
