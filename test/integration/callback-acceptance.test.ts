import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { openSyncGateway, type SyncGateway } from "../support/sync-gateway.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";

/** `security.md` §5 at acceptance: a URL known to be bad is refused before the call is queued. */
const never = [
  "http://169.254.169.254/latest",
  "http://[::ffff:169.254.169.254]/",
  "http://[64:ff9b::a9fe:a9fe]/",
  "http://[2002:a9fe:a9fe::]/",
  "http://2852039166/",
  "http://metadata.google.internal/",
  "http://metadata.google.internal./",
  "http://0.0.0.0/",
  "http://0/",
  "http://224.0.0.1/",
  "http://255.255.255.255/",
  "http://[::]/",
  "http://[fe80::1]/",
  "http://[ff02::1]/",
  "http://a@127.0.0.1/",
  "http://example.com@127.0.0.1/",
  "http://example.com\\@127.0.0.1/",
  "file:///etc/passwd",
  "gopher://example.com/",
  "//example.com/",
  "http://127.0.0.1:4222/",
  "http://gateway.weir:8080/system/functions",
  `http://example.com/${"x".repeat(8_192)}`,
];
const notPublic = [
  "http://127.1/",
  "http://0x7f000001/",
  "http://0177.0.0.1/",
  "http://2130706433/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://10.1.2.3/",
  "http://100.64.0.1/",
  "http://172.16.0.1/",
  "http://192.168.0.1/",
  "http://198.18.0.1/",
  "http://[fd00::1]/",
];
const fine = [
  "http://example.com/",
  "HTTPS://EXAMPLE.COM/a?b=@c",
  "http://93.184.216.34/",
  "http://[2606:2800:220:1::1]:8443/",
  "http://gateway.weir:8080/function/hello",
  "http://gateway.weir:8080/async-function/hello",
];

describe.each(["any", "public"] as const)("callback_policy %s", (policy) => {
  let gateway: SyncGateway;

  beforeAll(async () => {
    gateway = await openSyncGateway({ invokeAsync: (...call) => invokeAsync(...call) });
    const invokeAsync = openMemoryAsyncInvoker(gateway.table, { policy });
    gateway.deploy("echo");
  });
  afterAll(() => gateway?.close());

  const queue = async (url: string) => {
    const headers = ["X-Callback-Url", url, "Accept", "application/json"];
    const response = await sendVerbatim(gateway.port, { method: "POST", target: "/async-function/echo", headers });
    const text = await response.text();
    return text === "" ? response.status : JSON.parse(text).code;
  };
  const refused = policy === "public" ? [...never, ...notPublic] : never;

  test.each(refused)("%s is refused", async (url) => {
    expect(await queue(url)).toBe("invalid_callback_url");
  });

  test.each(policy === "public" ? fine : [...fine, ...notPublic])("%s is accepted", async (url) => {
    expect(await queue(url)).toBe(202);
  });
});
