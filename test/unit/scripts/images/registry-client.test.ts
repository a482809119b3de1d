import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { splitRegistry } from "../../../../scripts/images/push-image.ts";
import { RegistryClient } from "../../../../scripts/images/registry-client.ts";

const credentials = { user: "me", password: "a:b" };
const basic = `Basic ${Buffer.from("me:a:b").toString("base64")}`;

type Respond = (request: IncomingMessage, response: ServerResponse, origin: string) => void;

/** A registry that responds by `respond`. */
async function scripted(respond: Respond) {
  let origin = "";
  const server = createServer((request, response) => {
    request.resume();
    respond(request, response, origin);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new RegistryClient(origin, "team/weir", credentials);
  const close = async (): Promise<void> => {
    await client.close();
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { client, [Symbol.asyncDispose]: close };
}

test("a registry that requires Basic gets it, with the body sent again", async () => {
  await using registry = await scripted((request, response) => {
    if (request.headers.authorization === basic) response.writeHead(201).end();
    else response.writeHead(401, { "www-authenticate": 'Basic realm="here"' }).end();
  });
  const { status } = await registry.client.send("PUT", "manifests/1", { body: () => "{}", expected: [201] });
  expect(status).toBe(201);
});

test("a registry that requires a token gets the one from its realm", async () => {
  const requests: unknown[] = [];
  await using registry = await scripted((request, response, origin) => {
    if (request.url?.startsWith("/token") === true) {
      requests.push([request.url, request.headers.authorization]);
      response.writeHead(200).end(JSON.stringify({ token: "abc" }));
    } else if (request.headers.authorization === "Bearer abc") response.writeHead(200).end();
    else response.writeHead(401, { "www-authenticate": `Bearer realm="${origin}/token",service="images"` }).end();
  });
  expect((await registry.client.send("HEAD", "blobs/sha256:1", { expected: [200, 404] })).status).toBe(200);
  expect(requests).toEqual([["/token?service=images&scope=repository%3Ateam%2Fweir%3Apull%2Cpush", basic]]);
});

test("refused credentials are not retried, and are not in the error", async () => {
  let requests = 0;
  await using registry = await scripted((_, response) => {
    requests++;
    response.writeHead(401, { "www-authenticate": 'Basic realm="here"' }).end();
  });
  await expect(registry.client.send("HEAD", "blobs/x", { expected: [200] })).rejects.toThrow(
    /^Cannot use registry "127\.0\.0\.1:\d+": it answered 401 to HEAD \/v2\/team\/weir\/blobs\/x$/,
  );
  expect(requests).toBe(2);
});

test("another host that stores for the registry gets no credentials", async () => {
  const credentialsSeen: unknown[] = [];
  await using store = await scripted((request, response) => {
    credentialsSeen.push(request.headers.authorization);
    response.writeHead(201).end();
  });
  await using registry = await scripted((request, response) => {
    if (request.headers.authorization === basic) response.writeHead(200).end();
    else response.writeHead(401, { "www-authenticate": "Basic" }).end();
  });
  await registry.client.send("HEAD", "blobs/x", { expected: [200] });
  await registry.client.send("PUT", `${store.client.origin}/upload`, { body: () => "x", expected: [201] });
  expect(credentialsSeen).toEqual([undefined]);
});

test.each([
  ["registry.example.com/team", { host: "registry.example.com", prefix: ["team"] }],
  ["127.0.0.1:5000", { host: "127.0.0.1:5000", prefix: [] }],
  ["127.0.0.1:5000/", { host: "127.0.0.1:5000", prefix: [] }],
])("%s", (registry, parts) => {
  expect(splitRegistry(registry)).toEqual(parts);
});

test.each(["", "https://registry.example.com", "host/../x", "host/Upper", "user@host"])(
  "%j is no registry",
  (registry) => {
    expect(() => splitRegistry(registry)).toThrow(/^Cannot push to /);
  },
);
