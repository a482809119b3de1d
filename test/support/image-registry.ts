import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";

/** A registry on loopback with one image, under every name; the image's command does not exist. */
export interface ImageRegistry extends AsyncDisposable {
  /** `host:port`, for references. */
  readonly host: string;
}

export interface ImageRegistryOptions {
  /** Size of the one layer, bytes. */
  readonly layer: number;
  /** Number of chunks in which it is sent. */
  readonly pieces: number;
  /** Milliseconds between two chunks. */
  readonly pause: number;
}

const manifestType = "application/vnd.docker.distribution.manifest.v2+json";
const block = 512;

/** Opens it on a free port. */
export async function openImageRegistry(options: ImageRegistryOptions): Promise<ImageRegistry> {
  const archive = tarOf("content", randomBytes(options.layer));
  const layer = gzipSync(archive, { level: 1 });
  const config = jsonOf({
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Cmd: ["/nothing"] },
    rootfs: { type: "layers", diff_ids: [digestOf(archive)] },
  });
  const blobs = new Map([layer, config].map((blob) => [digestOf(blob), blob]));
  const manifest = jsonOf({
    schemaVersion: 2,
    mediaType: manifestType,
    config: {
      mediaType: "application/vnd.docker.container.image.v1+json",
      size: config.length,
      digest: digestOf(config),
    },
    layers: [
      { mediaType: "application/vnd.docker.image.rootfs.diff.tar.gzip", size: layer.length, digest: digestOf(layer) },
    ],
  });
  const server = createServer((request, response) => {
    const [, kind, reference = ""] = /\/(manifests|blobs)\/([^/]+)$/.exec(request.url ?? "") ?? [];
    const blob = blobs.get(reference);
    if (kind === "manifests") {
      const head = { "content-type": manifestType, "content-length": manifest.length };
      response.writeHead(200, { ...head, "docker-content-digest": digestOf(manifest) }).end(manifest);
    } else if (kind === "blobs" && blob !== undefined) void drip(response, blob, options);
    else response.writeHead(kind === undefined ? 200 : 404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function drip(response: ServerResponse, blob: Buffer, options: ImageRegistryOptions): Promise<void> {
  response.writeHead(200, { "content-length": String(blob.length) });
  const size = Math.max(4_096, Math.ceil(blob.length / options.pieces));
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  for (let at = 0; at < blob.length && !response.destroyed; at += size) {
    response.write(blob.subarray(at, at + size));
    if (blob.length > size) await pause(options.pause, undefined, { signal: gone.signal }).catch(() => undefined);
  }
  response.end();
}

function jsonOf(document: object): Buffer {
  return Buffer.from(JSON.stringify(document));
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** A tar archive with one file. */
function tarOf(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(block);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;
  head.write(name, 0);
  head.write(octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(content.length, 12) + octal(0, 12), 100);
  head.write("        0", 148);
  head.write("ustar\x0000", 257);
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  const padding = Buffer.alloc((block - (content.length % block)) % block);
  return Buffer.concat([head, content, padding, Buffer.alloc(2 * block)]);
}
