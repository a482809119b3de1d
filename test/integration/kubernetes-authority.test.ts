import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { KubeClient } from "../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import { selfSigned } from "../support/self-signed.ts";

test("a running client trusts the API server's new authority as soon as the mounted file has it", async () => {
  const [first, second] = [await selfSigned(), await selfSigned()];
  const server = createServer(first, (_request, response) => {
    // The next request needs a new connection.
    response.writeHead(200, { connection: "close" }).end(JSON.stringify({ metadata: { name: "a" } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  let mounted = first.cert.toString();
  let current = mounted;
  const caFile = { current: () => Promise.resolve(current), refused: () => void (current = mounted) };
  const { port } = server.address() as AddressInfo;
  const client = new KubeClient(
    { server: `https://127.0.0.1:${port}`, caFile },
    { fieldManager: "weir-test", firstDelay: 1, longestDelay: 10 },
  );
  const ask = () => client.create(kinds.configMap, { metadata: { namespace: "dev", name: "a" } }, {}, { once: true });
  try {
    await ask();
    server.setSecureContext(second);
    await expect(ask()).rejects.toMatchObject({ code: "provider_unavailable" });
    mounted = second.cert.toString();
    // Refused before anything was sent, so it may be sent again.
    await ask();
  } finally {
    await client.close();
    server.close();
  }
});
