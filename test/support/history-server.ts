import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { tempDirectory } from "./temp-directory.ts";

/** A request that a history process got. */
export interface HistoryRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type HistoryReply = (request: HistoryRequest, response: ServerResponse) => void | Promise<void>;

/** A history process that replies what a test says. */
export interface HistoryServer extends AsyncDisposable {
  readonly socket: string;
  readonly requests: readonly HistoryRequest[];
}

/** Opens one at a socket, which is in a directory of its own if it is not named. */
export async function openHistoryServer(reply: HistoryReply, at?: string): Promise<HistoryServer> {
  const directory = at === undefined ? await tempDirectory("history") : undefined;
  const socket = at ?? join(directory?.path ?? "", "api.sock");
  const requests: HistoryRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "", url: path = "", headers } = request;
      const got = { method, path, headers, body: await text(request) };
      requests.push(got);
      await reply(got, response);
    })().catch(() => response.destroy());
  }).listen(socket);
  await once(server, "listening");
  return {
    socket,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await directory?.remove();
    },
  };
}
