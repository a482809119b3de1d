import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { afterEach, describe, expect, onTestFinished, test } from "vitest";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import type { HistoryClientOptions } from "../../runtime/adapters/http/history/history-client.ts";
import { encodeHistoryValue, historyResponseMax } from "../../runtime/api/schemas/history/history-wire.ts";
import { eventually } from "../support/eventually.ts";
import { openHistoryServer, type HistoryReply } from "../support/history-server.ts";
import { freePort } from "../support/free-port.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** The gateway's client of the history process: what it sends, and what becomes of replies that are none. */
const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const opened: HttpCallHistory[] = [];

afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
});

function clientOf(address: string, options: Partial<HistoryClientOptions> = {}): HttpCallHistory {
  const client = new HttpCallHistory({ address, ...options });
  opened.push(client);
  return client;
}

function replying(value: unknown): HistoryReply {
  return (_request, response) => void response.writeHead(200).end(encodeHistoryValue(value));
}

const unavailable = (reason: string | RegExp) =>
  expect.objectContaining({
    code: "history_unavailable",
    retryAfterSeconds: 2,
    message: expect.stringMatching(
      typeof reason === "string" ? `^Cannot read the history of calls: ${RegExp.escape(reason)}$` : reason,
    ),
  });

describe("a method", () => {
  const filter = { function: { namespace: "dev", name: "pay" }, permitted: ["dev/pay"] };
  const page = { rows: [], total: { value: 0, exact: true } };
  const progress = { lagSeconds: 0.2, complete: true, gaps: [{ from: 1, to: 2 }] };
  const rollupQuery = { functions: [{ namespace: "dev", name: "pay" }], step: "1m", since: 0, until: 60_000 } as const;

  test.each([
    ["list", "/v1/list", { filter, limit: 50 }, page, (client) => client.list({ filter, limit: 50 })],
    ["get", "/v1/get", id, undefined, (client) => client.get(id)],
    ["replaysOf", "/v1/replays", id, [id], (client) => client.replaysOf(id)],
    ["functions", "/v1/functions", null, [filter.function], (client) => client.functions()],
    ["gaps", "/v1/gaps", null, progress.gaps, (client) => client.gaps()],
    ["rollups", "/v1/rollups", rollupQuery, [], (client) => client.rollups(rollupQuery)],
    ["remove", "/v1/remove", id, false, (client) => client.remove(id)],
  ] as const satisfies readonly (readonly [
    string,
    string,
    unknown,
    unknown,
    (client: HttpCallHistory) => Promise<unknown>,
  ])[])("%s is POST %s with its argument, and resolves with the result", async (_name, path, sent, result, ask) => {
    await using server = await openHistoryServer(replying(result));
    expect(await ask(clientOf(server.socket))).toEqual(result);
    expect(server.requests).toMatchObject([{ method: "POST", path, body: JSON.stringify(sent) }]);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  test("progress is GET, once for all who ask at the same time", async () => {
    await using server = await openHistoryServer(replying(progress));
    const client = clientOf(server.socket);
    expect(await Promise.all([client.progress(), client.progress()])).toEqual([progress, progress]);
    expect(await client.progress()).toEqual(progress);
    expect(server.requests).toMatchObject([
      { method: "GET", path: "/v1/progress", body: "" },
      { method: "GET", path: "/v1/progress", body: "" },
    ]);
  });
});

describe("the key of a cluster", () => {
  test("is sent as it is in its file now", async () => {
    await using directory = await tempDirectory("history-key");
    await using server = await openHistoryServer(replying([]));
    const keyFile = join(directory.path, "history-key");
    const client = clientOf(server.socket, { keyFile });
    for (const key of ["first", "second"]) {
      await writeFile(keyFile, `${key}\n`);
      await client.gaps();
    }
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
  });

  test("that is missing or empty makes the history unavailable, and nothing is sent", async () => {
    await using directory = await tempDirectory("history-key");
    await using server = await openHistoryServer(replying([]));
    const keyFile = join(directory.path, "history-key");
    const client = clientOf(server.socket, { keyFile });
    await expect(client.gaps()).rejects.toEqual(unavailable(/ENOENT/));
    await writeFile(keyFile, " \n");
    await expect(client.gaps()).rejects.toEqual(unavailable(`the key file "${keyFile}" is empty`));
    expect(server.requests).toEqual([]);
  });
});

test("it is reached by address, too", async () => {
  const server = createServer((_request, response) => void response.end("[]")).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await eventually(() => server.listening, { what: "the server to listen" });
  const { port } = server.address() as AddressInfo;
  expect(await clientOf(`http://127.0.0.1:${port}`).functions()).toEqual([]);
});

describe("the history is unavailable", () => {
  test("while its process is away, and available once it is back", async () => {
    await using directory = await tempDirectory("history-away");
    const socket = join(directory.path, "api.sock");
    const client = clientOf(socket);
    const away = unavailable(/^Cannot read the history of calls: /);
    await expect(client.gaps()).rejects.toEqual(away);
    for (let start = 0; start < 2; start += 1) {
      const server = await openHistoryServer(replying([]), socket);
      expect(await client.gaps()).toEqual([]);
      await server[Symbol.asyncDispose]();
      await expect(client.gaps()).rejects.toEqual(away);
      await expect(client.progress()).rejects.toEqual(away);
    }
  });

  test.each([
    [503, "Cannot list calls: the read took over 1 s\n", "Cannot list calls: the read took over 1 s"],
    [500, "", "it replied 500"],
    [404, "x".repeat(1_000), "x".repeat(300)],
  ])("when it replies %d", async (status, body, reason) => {
    await using server = await openHistoryServer((_request, response) => void response.writeHead(status).end(body));
    await expect(clientOf(server.socket).gaps()).rejects.toEqual(unavailable(reason));
  });

  test("when its reply is no JSON, breaks off, or is too long", async () => {
    const chunk = Buffer.alloc(1024 * 1024, 32);
    const replies: readonly (readonly [HistoryReply, string | RegExp])[] = [
      [(_request, response) => void response.end("{"), /JSON/],
      [
        (_request, response) => {
          response.writeHead(200, { "content-length": "9" });
          response.write("[", () => response.destroy());
        },
        /^Cannot read the history of calls: /,
      ],
      [
        (_request, response) => {
          for (let sent = 0; sent <= historyResponseMax; sent += chunk.byteLength) response.write(chunk);
          response.end();
        },
        `its reply is over the limit of ${historyResponseMax} bytes`,
      ],
    ];
    for (const [reply, reason] of replies) {
      await using server = await openHistoryServer(reply);
      await expect(clientOf(server.socket).gaps()).rejects.toEqual(unavailable(reason));
    }
  });

  test("when it takes too long: for the head of its reply, or for the rest", async () => {
    const replies: readonly HistoryReply[] = [
      () => {},
      (_request, response) => {
        response.writeHead(200);
        response.write("[");
      },
    ];
    for (const reply of replies) {
      await using server = await openHistoryServer(reply);
      const client = clientOf(server.socket, { timeout: 50 });
      await expect(client.gaps()).rejects.toEqual(unavailable("no reply within 50 ms"));
    }
  });

  test("for a request that would be its 33rd, which is not sent, until one of the others ends", async () => {
    const held: (() => void)[] = [];
    await using server = await openHistoryServer(
      (_request, response) => void held.push(() => response.end(encodeHistoryValue([]))),
    );
    const client = clientOf(server.socket, { timeout: 30_000 });
    const waiting = Array.from({ length: 32 }, () => client.gaps());
    await eventually(() => held.length === 32, { what: "32 requests" });
    await expect(client.gaps()).rejects.toEqual(unavailable("32 requests wait for it already"));
    held.pop()?.();
    await Promise.race(waiting);
    const next = client.gaps();
    await eventually(() => held.length === 32, { what: "the next request" });
    for (const end of held) end();
    expect(await Promise.all([...waiting, next])).toHaveLength(33);
    expect(server.requests).toHaveLength(33);
  });

  test("for a request that is longer than the process reads", async () => {
    await using server = await openHistoryServer(replying([]));
    const permitted = Array.from({ length: 40_000 }, (_, index) => `${"n".repeat(63)}/${"f".repeat(57)}${index}`);
    const asked = clientOf(server.socket).list({ filter: { permitted }, limit: 1 });
    await expect(asked).rejects.toEqual(unavailable(/over the limit of 4194304 bytes$/));
    expect(server.requests).toEqual([]);
  });
});

test("a history that does not listen yet is said to start, without the path of its socket", async () => {
  await using directory = await tempDirectory("history-starting");
  const starting = unavailable("it is starting; try again in a moment");
  await expect(clientOf(join(directory.path, "api.sock")).gaps()).rejects.toEqual(starting);
  await expect(clientOf(`http://127.0.0.1:${await freePort()}`).gaps()).rejects.toEqual(starting);
});
