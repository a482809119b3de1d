import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A gateway in front of a Weir of this machine that says it is another one's, or a cluster's. */
export interface ClusterStandIn extends AsyncDisposable {
  /** Without a path. */
  readonly url: string;
  /** Bodies of the deployments that were sent, in order. */
  readonly deployments: readonly SentBody[];
}

export interface SentBody {
  readonly service: string;
  readonly image: string;
}

export interface ClusterStandInOptions {
  /** Gateway of the Weir behind it. */
  readonly upstream: string;
  /** What it says it runs functions with. */
  readonly provider: "weir-kubernetes" | "weir-docker";
  /** Address of this machine that it listens on; loopback by default. */
  readonly host?: string;
  /** Called before a deployment goes on. */
  readonly onDeployment?: (deployment: SentBody) => Promise<void>;
}

/** Opens one on a free port. */
export async function openClusterStandIn(options: ClusterStandInOptions): Promise<ClusterStandIn> {
  const deployments: SentBody[] = [];
  const server = createServer((request, response) => {
    void forward(request, response, options, deployments).catch((err: unknown) => {
      response.writeHead(500, { "content-type": "text/plain" }).end(String(err));
    });
  });
  await once(server.listen(0, options.host ?? "127.0.0.1"), "listening");
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${address}:${port}`,
    deployments,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, provider, onDeployment }: ClusterStandInOptions,
  deployments: SentBody[],
): Promise<void> {
  const { method = "GET", url = "/", headers } = request;
  const body = await buffer(request);
  if (method === "PUT" && url === "/system/functions") {
    const deployment = JSON.parse(body.toString()) as SentBody;
    await onDeployment?.(deployment);
    deployments.push(deployment);
  }
  const { authorization = "", accept = "*/*", "content-type": type = "application/json" } = headers;
  const reply = await fetch(upstream + url, {
    method,
    headers: { accept, "content-type": type, ...(authorization === "" ? {} : { authorization }) },
    ...(body.byteLength === 0 ? {} : { body }),
  });
  const text = await reply.text();
  response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "text/plain" });
  response.end(url === "/system/info" && reply.ok ? withProvider(text, provider) : text);
}

function withProvider(info: string, provider: string): string {
  const said = JSON.parse(info) as { readonly provider: object };
  return JSON.stringify({ ...said, provider: { ...said.provider, provider } });
}
