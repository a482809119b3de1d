import type { Server } from "node:http";
import type { Socket } from "node:net";

import { expect, test } from "vitest";

import { issuerPaths, openTokenIssuer } from "../../support/token-issuer.ts";

test("a token issuer is closed once its disposal resolves, also with a request that has no reply", async () => {
  const issuer = await openTokenIssuer();
  let closed = false;
  const asked = new Promise<void>((resolve) => {
    issuer.replace(issuerPaths.keys, ({ socket }) => {
      (socket as Socket & { readonly server: Server }).server.once("close", () => (closed = true));
      resolve();
    });
  });
  const reply = fetch(`${issuer.url}${issuerPaths.keys}`).then(
    () => "a reply",
    () => "no reply",
  );
  await asked;
  await issuer[Symbol.asyncDispose]();
  expect(closed).toBe(true);
  expect(await reply).toBe("no reply");
  await issuer[Symbol.asyncDispose]();
});
