import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { lookInRegistry } from "../../scripts/preflight/registry-look.ts";

interface Reply {
  readonly status?: number;
  readonly location?: string;
  readonly body?: object;
}

/** Looks up an image in a registry with these replies; their paths are below `/v2/team/weir/`. */
async function look(reference: string, replies: (host: string) => Readonly<Record<string, Reply>>) {
  const server = createServer((request, response) => {
    const {
      status = 200,
      location,
      body,
    } = replies(host)[(request.url ?? "").replace("/v2/team/weir/", "")] ?? {
      status: 404,
    };
    response.writeHead(status, location === undefined ? {} : { location }).end(JSON.stringify(body ?? {}));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await lookInRegistry(host, "team/weir", reference);
  } finally {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  }
}

const image = { schemaVersion: 2, config: { digest: "sha256:00" } };

test("an image that does not exist is undefined", async () => {
  expect(await look("1", () => ({}))).toBeUndefined();
});

test("one image is for the architecture that its configuration says, wherever that is stored", async () => {
  const there = { "manifests/1": { body: image } };
  const config = { body: { architecture: "arm64", os: "linux" } };
  expect(await look("1", () => ({ ...there, "blobs/sha256:00": config }))).toEqual(["arm64"]);
  const elsewhere = (host: string) => ({
    ...there,
    "blobs/sha256:00": { status: 307, location: `http://${host}/store/00` },
    "/store/00": config,
  });
  expect(await look("1", elsewhere)).toEqual(["arm64"]);
});

test("several images under one name are for their architectures, attestations left out", async () => {
  const of = (os: string, architecture: string) => ({ platform: { os, architecture } });
  const manifests = [of("linux", "amd64"), of("linux", "arm64"), of("windows", "amd64"), of("unknown", "unknown")];
  expect(await look("1", () => ({ "manifests/1": { body: { manifests } } }))).toEqual(["amd64", "arm64"]);
});

test("the refusal of a registry rejects", async () => {
  await expect(look("1", () => ({ "manifests/1": { status: 403 } }))).rejects.toThrow(/answered 403 to GET/);
});
