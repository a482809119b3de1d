import type { IncomingMessage, ServerResponse } from "node:http";

import type { RollupColumns, Rollups } from "../../runtime/api/schemas/history/rollups.ts";
import { jsonReply, openConsoleFront } from "../../test/support/console/console-front.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openManyFunctions, type ManyFunctions } from "../many/many-functions.ts";
import type { ConsolePlace } from "./signed-in.ts";

/** How many functions the console shows. */
export const fullCount = 10_000;

/** A gateway with its console that knows 10 000 functions; none of them is called by itself. */
export interface FullConsole extends ConsolePlace {
  readonly functions: ManyFunctions;
  /** Port of the gateway's API. */
  readonly port: number;
}

/** Nobody listens there: these functions are only looked at. */
const nowhere = "127.0.0.1:9";
/** Intervals of a function's line: 15 minutes by 10 s. */
const intervals = { count: 90, seconds: 10 } as const;

/** Opens one; the figures of its history are made up, as 10 000 functions would have to be called for them. */
export async function openFullConsole(opened: AsyncDisposableStack): Promise<FullConsole> {
  const functions = await openManyFunctions(fullCount, nowhere);
  opened.defer(() => functions.close());
  const [behind, port] = [await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const flags = ["--console-port", String(behind), "--console-origins", origin];
  const gateway = await functions.startGateway(undefined, flags);
  opened.defer(() => gateway.stop());
  const front = opened.use(await openConsoleFront(port, `http://127.0.0.1:${behind}`));
  front.replace(/^GET \/system\/rollups\?/, replyWithFigures);
  const [, credentials = ""] = functions.authorization.split(" ");
  const [, password = ""] = Buffer.from(credentials, "base64").toString().split(":");
  return { functions, port: gateway.port, origin, password };
}

/** Figures of the functions that a page asks for. */
function replyWithFigures(request: IncomingMessage, response: ServerResponse): void {
  const asked = new URL(request.url ?? "/", "http://gateway").searchParams.get("function") ?? "";
  const from = new Date(Date.now() - intervals.count * intervals.seconds * 1_000).toISOString();
  const rollups: Rollups = { step: "10s", from, series: asked.split(",").map(figuresOf) };
  jsonReply(rollups)(request, response);
}

function figuresOf(key: string): RollupColumns {
  const [functionName = "", namespace = ""] = key.split(".");
  const column = (most: number): number[] =>
    Array.from({ length: intervals.count }, () => Math.round(Math.random() * most * 10) / 10);
  return {
    functionName,
    namespace,
    calls: column(1_000),
    errors: column(10),
    p50: column(20),
    p95: column(100),
    coldStarts: column(1),
    replicas: column(3),
    inFlight: column(20),
    queued: column(20),
    scalings: [],
  };
}
