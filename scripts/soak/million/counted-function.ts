import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { header } from "../../../runtime/api/names.ts";

export interface CountedFunction {
  /** `host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

const callId = header.callId.toLowerCase();

/**
 * A function that echoes each body, keeps nothing, and reports the ids of its runs when they start and when they end.
 */
export async function openCountedFunction(listener: {
  readonly started: (id: string) => void;
  readonly answered: (id: string) => void;
}): Promise<CountedFunction> {
  const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) => {
    const id = request.headers[callId]?.toString() ?? "";
    listener.started(id);
    response.on("finish", () => listener.answered(id));
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.end(Buffer.concat(chunks)));
    request.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
