import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { CallSummary } from "../../runtime/api/schemas/history/call-summary.ts";
import { callPages, type GetPage } from "./call-pages.ts";
import { eventually } from "./eventually.ts";
import { sendLoad, type LoadOptions, type LoadSummary } from "./load.ts";
import { platformCalls, type PlatformCalls } from "./platform-calls.ts";
import type { KnownProcess } from "./process-tree.ts";
import { startWeir, type WeirProcess } from "./weir-process.ts";

/** A Weir on one machine with a function, whose history has faults. */
export interface HistoryHost extends AsyncDisposable {
  readonly weir: WeirProcess;
  readonly calls: PlatformCalls;
  /** Directory of the history's files. */
  readonly directory: string;
  /** As the administrator. */
  readonly get: GetPage;
  /** The history process that serves, which is another one than `except`. */
  serving(except?: KnownProcess): Promise<KnownProcess>;
  load(options: Pick<LoadOptions, "rate" | "count"> & Partial<LoadOptions>): Promise<LoadSummary>;
  /** Resolves when `GET /system/calls` lists each call as its record says. */
  untilListed(ids: readonly string[]): Promise<void>;
}

const functionName = "replies";
const program = `require("node:http").createServer((q, r) => { q.resume(); q.on("end", () => r.end("ok")); }).listen(process.env.PORT)`;
const flags = ["--edition=pro", "--max-inflight=8", "--log-level=info", "--log-format=json"];
const mainFile = "history/main.ts";

/** Starts it in a directory that the caller removes, its history on another disk if one is given; its function runs. */
export async function openHistoryHost(data: string, disk?: string): Promise<HistoryHost> {
  if (disk !== undefined) {
    await mkdir(join(disk, "history"));
    await symlink(join(disk, "history"), join(data, "history"));
  }
  const weir = await startWeir({ data, flags });
  try {
    return await deployed(weir);
  } catch (err) {
    await weir.close();
    throw err;
  }
}

async function deployed(weir: WeirProcess): Promise<HistoryHost> {
  const { authorization } = weir;
  const calls = platformCalls(weir.url, { authorization });
  const get: GetPage = async (path) => {
    const { status, body } = await calls.send("GET", path, { headers: { authorization } });
    return { status, text: body.toString() };
  };
  const { status, body } = await calls.send("PUT", "/system/functions", {
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({
      service: functionName,
      image: "none",
      envProcess: `node -e '${program}'`,
      envVars: { mode: "http" },
    }),
  });
  if (status !== 202) throw new Error(`the deployment was answered ${status}: ${body.toString()}`);
  await calls.ended(await calls.accepted(functionName));
  return {
    weir,
    calls,
    directory: join(weir.data, "history"),
    get,
    serving: async (except) => {
      const found = await eventually(
        () => weir.below().find(({ command, pid }) => command.includes(mainFile) && pid !== except?.pid),
        { what: "the history process" },
      );
      await eventually(async () => (await get("/system/calls?limit=1")).status === 200, {
        what: "the history to serve",
      });
      return found;
    },
    load: (options) => sendLoad({ gateway: weir.url, functionName, ...options }),
    untilListed: async (ids) => {
      await Promise.all(ids.map((id) => calls.ended(id)));
      await eventually(async () => differencesFromRecords(await listed(get), calls, ids), {
        what: "the list to be as the records",
        every: 250,
      });
    },
    [Symbol.asyncDispose]: () => weir.close(),
  };
}

async function listed(get: GetPage): Promise<ReadonlyMap<string, CallSummary>> {
  const found = new Map<string, CallSummary>();
  for await (const { items } of callPages(get)) for (const item of items) found.set(item.callId, item);
  return found;
}

/** True when all are equal; throws a sentence otherwise. */
async function differencesFromRecords(
  items: ReadonlyMap<string, CallSummary>,
  calls: PlatformCalls,
  ids: readonly string[],
): Promise<true> {
  const found: string[] = [];
  for (const id of ids) {
    const [item, record] = [factsOf(items.get(id)), factsOf(await calls.status(id))];
    if (item === undefined || item !== record) found.push(`${id}: listed ${item}, record ${record}`);
  }
  if (found.length === 0) return true;
  throw new Error(`${found.length} of ${ids.length} calls differ: ${found.slice(0, 3).join("; ")}`);
}

/** What a list and a record say alike. */
function factsOf(call: CallSummary | CallRecord | undefined): string | undefined {
  if (call === undefined) return undefined;
  const { callId, functionName: name, namespace, state, acceptedAt, endedAt, retries } = call;
  return JSON.stringify([callId, name, namespace, state, acceptedAt, endedAt, retries]);
}
