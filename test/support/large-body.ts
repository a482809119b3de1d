import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";

import { eventually } from "./eventually.ts";
import { openFunctionServer } from "./function-server.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";

const benchGateway = join(import.meta.dirname, "../../bench/calls/bench-gateway.ts");
const mebibyte = 1_048_576;
/** Milliseconds; too long to matter here. */
const callTimeout = 1_200_000;

/** Measurements of a large body; sizes are bytes. */
export interface LargeBody {
  /** How much the client could send while the reply was not read. */
  readonly stuckAt: number;
  /** By how much the gateway's memory had grown then. */
  readonly grownWhenStuck: number;
  /** Maximum growth of the gateway's memory while the reply was read. */
  readonly grown: number;
  readonly received: number;
  /** Whether the reply had the bytes that were sent. */
  readonly same: boolean;
}

/**
 * Sends a body through a separate gateway process to a function that echoes it: first without reading the reply until
 * nothing more can be sent, then reading it to its end.
 */
export async function echoLargeBody(mebibytes: number): Promise<LargeBody> {
  const fn = await openFunctionServer((request, response) => void request.pipe(response), { readBody: false });
  const child = spawn(process.execPath, [benchGateway, fn.address, String(callTimeout)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  killAtExit(child);
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const memory = (): number =>
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1_024;
    const sent = createHash("sha1");
    const before = memory();
    const request = httpRequest(`http://127.0.0.1:${line.toString().trim()}/function/tiny`, {
      method: "POST",
      headers: { "content-length": String(mebibytes * mebibyte) },
    });
    request.on("error", () => {});
    Readable.from(chunks(mebibytes, sent)).pipe(request);
    const [response] = (await once(request, "response")) as [AsyncIterable<Buffer>];
    let stuckAt = -1;
    await eventually(() => stuckAt === (stuckAt = request.socket?.bytesWritten ?? 0), {
      every: 200,
      what: "the client to be stuck",
    });
    const grownWhenStuck = memory() - before;

    const echoed = createHash("sha1");
    let received = 0;
    let grown = 0;
    for await (const chunk of response) {
      echoed.update(chunk);
      received += chunk.length;
      if (received % (8 * mebibyte) < chunk.length) grown = Math.max(grown, memory() - before);
    }
    const same = echoed.digest("hex") === sent.digest("hex");
    return { stuckAt, grownWhenStuck, grown, received, same };
  } finally {
    child.kill("SIGTERM");
    if (isRunningChild(child)) await once(child, "exit");
    await fn.close();
  }
}

function* chunks(mebibytes: number, sent: ReturnType<typeof createHash>): Generator<Buffer> {
  for (let index = 0; index < mebibytes; index += 1) {
    const chunk = Buffer.alloc(mebibyte, `weir ${index}`);
    sent.update(chunk);
    yield chunk;
  }
}
