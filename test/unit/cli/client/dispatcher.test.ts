import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { openDispatcher, type TlsFiles } from "../../../../runtime/cli/client/dispatcher.ts";
import { selfSigned } from "../../../support/self-signed.ts";
import { openTokenIssuer } from "../../../support/token-issuer.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

async function files() {
  const { path, remove } = await tempDirectory("dispatcher");
  const { cert, key } = await selfSigned();
  const other = await selfSigned();
  await writeFile(join(path, "cert.pem"), cert);
  await writeFile(join(path, "key.pem"), key);
  await writeFile(join(path, "other-key.pem"), other.key);
  await writeFile(join(path, "text"), "no certificate");
  return { path, [Symbol.asyncDispose]: remove };
}

const address = "https://weir.example.com";

describe("TLS files that cannot be used are exit code 2", () => {
  test.each<readonly [TlsFiles, RegExp]>([
    [{ caFile: "none" }, /^Cannot use ".*none" of --ca-file: there is no such file or directory/],
    [{ caFile: "text" }, /^Cannot use ".*text" of --ca-file: /],
    [{ certFile: "cert.pem" }, /^Cannot show a certificate: --cert-file and --key-file are needed both$/],
    [{ keyFile: "key.pem" }, /^Cannot show a certificate: --cert-file and --key-file are needed both$/],
    [{ certFile: "text", keyFile: "key.pem" }, /^Cannot use the files of --cert-file and --key-file: /],
    [{ certFile: "cert.pem", keyFile: "other-key.pem" }, /^Cannot use the files of --cert-file and --key-file: /],
  ])("%j", async (tls, message) => {
    await using at = await files();
    const absolute = Object.fromEntries(Object.entries(tls).map(([name, file]) => [name, join(at.path, String(file))]));
    await expect(openDispatcher(address, absolute, 1_000)).rejects.toMatchObject({
      exit: 2,
      message: expect.stringMatching(message) as string,
    });
  });
});

test("a certificate with its key is used", async () => {
  await using at = await files();
  const tls = { certFile: join(at.path, "cert.pem"), keyFile: join(at.path, "key.pem") };
  const dispatcher = await openDispatcher(address, tls, 1_000);
  await dispatcher.destroy();
});

test.each([false, true])("authorities of a file are trusted, and those of the system beside them: %s", async (adds) => {
  await using place = await tempDirectory("dispatcher-ca");
  const [own, other] = [await selfSigned(), await selfSigned()];
  const caFile = join(place.path, "ca.pem");
  for (const [{ cert }, isTrusted] of [
    [own, true],
    [other, false],
  ] as const) {
    await using issuer = await openTokenIssuer(own);
    await writeFile(caFile, cert);
    const dispatcher = await openDispatcher(issuer.url, { caFile }, 10_000, { addsToSystem: adds });
    const status = dispatcher.request({ origin: issuer.url, path: "/keys", method: "GET" }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => "refused",
    );
    expect(await status).toBe(isTrusted ? 200 : "refused");
    await dispatcher.destroy();
  }
});
