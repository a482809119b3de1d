import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { lookInRegistry } from "../../scripts/preflight/registry-look.ts";

interface Answer {
  readonly status?: number;
  readonly location?: string;
  readonly body?: object;
}

/** What a registry that answers so says of an image; paths below `/v2/team/weir/`. */
async function look(reference: string, answers: (host: string) => Readonly<Record<string, Answer>>) {
  const server = createServer((request, response) => {
    const {
      status = 200,
      location,
      body,
    } = answers(host)[(request.url ?? "").replace("/v2/team/weir/", "")] ?? {
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

test("an image that is not there", async () => {
  expect(await look("1", () => ({}))).toBeUndefined();
});

test("one image is for the architecture that its configuration says, wherever that is kept", async () => {
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

test("several under one name are for theirs, attestations left out", async () => {
  const of = (os: string, architecture: string) => ({ platform: { os, architecture } });
  const manifests = [of("linux", "amd64"), of("linux", "arm64"), of("windows", "amd64"), of("unknown", "unknown")];
  expect(await look("1", () => ({ "manifests/1": { body: { manifests } } }))).toEqual(["amd64", "arm64"]);
});

test("a registry that refuses rejects", async () => {
  await expect(look("1", () => ({ "manifests/1": { status: 403 } }))).rejects.toThrow(/answered 403 to GET/);
});
