import { request } from "node:https";

/** The API server's response. */
export interface ClusterAnswer {
  readonly status: number;
  /** The `message` of its JSON body, or the whole body. */
  readonly message: string;
}

/** One request to the API server. */
export interface ClusterRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly path: string;
  readonly body?: object;
}

/** Sends requests to an API server, authenticated by `token` only. */
export function requestsAs(
  { server, ca }: { readonly server: string; readonly ca: string },
  token: string,
): (request: ClusterRequest) => Promise<ClusterAnswer> {
  return ({ method, path, body }) =>
    new Promise((resolve, reject) => {
      const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const headers = { authorization: `Bearer ${token}`, "content-type": contentType, connection: "close" };
      const outgoing = request(new URL(path, server), { method, headers, ...(ca === "" ? {} : { ca }) }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, message: messageOf(Buffer.concat(chunks).toString()) });
        });
      });
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

function messageOf(text: string): string {
  try {
    const { message }: { readonly message?: unknown } = JSON.parse(text);
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}
