import { request } from "node:https";

/** What the API server said. */
export interface ClusterAnswer {
  readonly status: number;
  /** Why it refused, or the whole body. */
  readonly message: string;
}

/** One request to the API server. */
export interface ClusterRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body?: object;
}

/** Asks an API server with this token alone. */
export function requestsAs(
  { server, ca }: { readonly server: string; readonly ca: string },
  token: string,
): (request: ClusterRequest) => Promise<ClusterAnswer> {
  return ({ method, path, body }) =>
    new Promise((resolve, reject) => {
      const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const headers = { authorization: `Bearer ${token}`, "content-type": contentType, connection: "close" };
      const asked = request(new URL(path, server), { method, headers, ...(ca === "" ? {} : { ca }) }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("error", reject);
        answer.on("end", () => {
          resolve({ status: answer.statusCode ?? 0, message: messageOf(Buffer.concat(parts).toString()) });
        });
      });
      asked.on("error", reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
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
