import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";

import { runCli } from "../../runtime/cli/run-cli.ts";
import type { CommandEnd } from "./cli-home.ts";

/** A request that a pretended gateway got. */
export interface GotRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body: string;
}

/** What a pretended gateway replies: a status, and a value that is sent as JSON, or nothing. */
export interface PretendedReply {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytes?: Uint8Array;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  /** Directory of relative paths. */
  readonly directory?: string;
  /** The user that a Weir of the directory has to belong to. */
  readonly uid?: number | undefined;
}

/** A gateway that replies what a test says; the command runs in this process. */
export interface PretendedGateway extends AsyncDisposable {
  readonly requests: readonly GotRequest[];
  readonly address: string;
  /** Runs `weir …` against it. Nothing is a terminal. */
  run(args: readonly string[], options?: RunOptions): Promise<CommandEnd>;
}

/** Problem details with this code and sentence (contract §1.7). */
export function problem(status: number, code: string, detail: string): PretendedReply {
  return { status, json: { status, code, detail }, headers: { "content-type": "application/problem+json" } };
}

/** The reply of a gateway that does not know a path. */
export const noRoute = problem(404, "route_not_found", "Cannot find the path");

/** Opens one on a free port of this machine; it is closed at the end of an `await using` block. */
export async function openPretendedGateway(
  reply: (request: GotRequest) => PretendedReply | Promise<PretendedReply>,
): Promise<PretendedGateway> {
  const requests: GotRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const got = { method: request.method ?? "", target: request.url ?? "", body: await text(request) };
      requests.push(got);
      send(response, await reply(got));
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}`;
  return {
    requests,
    address,
    run: (args, options) => run([...args, "--gateway", address], options),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function send(response: ServerResponse, { status = 200, json, headers, bytes }: PretendedReply): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(bytes ?? (json === undefined ? "" : JSON.stringify(json)));
}

async function run(
  args: readonly string[],
  { input = "", directory = "/", uid }: RunOptions = {},
): Promise<CommandEnd> {
  const written = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr"): Writable =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written[name] += chunk.toString();
        done();
      },
    });
  const code = await runCli(args, {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: () => undefined,
    environment: {},
    directory,
    home: "/nonexistent",
    uid,
    signal: new AbortController().signal,
  });
  return { code, ...written };
}
