import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { CallSummary } from "../../runtime/api/schemas/history/call-summary.ts";
import { callPages, type GetPage } from "./call-pages.ts";
import { eventually } from "./eventually.ts";
import { untilHistoryReplies } from "./history-replies.ts";
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
const readers = 16;

/** Whether it is the process of the history that a host starts, from its sources or bundled. */
export const isHistory = ({ command }: KnownProcess): boolean => /history\/main\.[jt]s/.test(command);

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
  const records = new EndedRecords(calls);
  return {
    weir,
    calls,
    directory: join(weir.data, "history"),
    get,
    serving: async (except) => {
      const found = await eventually(() => weir.below().find((each) => isHistory(each) && each.pid !== except?.pid), {
        what: "the history process",
      });
      await untilHistoryReplies(weir);
      return found;
    },
    load: (options) => sendLoad({ gateway: weir.url, functionName, ...options }),
    untilListed: async (ids) => {
      const expected = await records.of(ids);
      await eventually(async () => expectListed(await listedCalls(get), expected), {
        what: "the list to be as the records",
        every: 250,
      });
    },
    [Symbol.asyncDispose]: () => weir.close(),
  };
}

async function listedCalls(get: GetPage): Promise<ReadonlyMap<string, CallSummary>> {
  const found = new Map<string, CallSummary>();
  for await (const { items } of callPages(get)) for (const item of items) found.set(item.callId, item);
  return found;
}

/** What the records of calls say once they have ended, each read once. */
class EndedRecords {
  readonly #calls: PlatformCalls;
  readonly #known = new Map<string, string>();

  constructor(calls: PlatformCalls) {
    this.#calls = calls;
  }

  async of(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const left = ids.filter((id) => !this.#known.has(id));
    const readNext = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop())
        this.#known.set(id, factsOf(await this.#calls.ended(id)));
    };
    await Promise.all(Array.from({ length: readers }, readNext));
    return new Map(ids.map((id) => [id, this.#known.get(id) ?? ""]));
  }
}

/** True when each call is listed as its record says; throws a sentence otherwise. */
function expectListed(items: ReadonlyMap<string, CallSummary>, records: ReadonlyMap<string, string>): true {
  const found = [...records].flatMap(([id, record]) => {
    const item = items.get(id);
    const listed = item === undefined ? "absent" : factsOf(item);
    return listed === record ? [] : [`${id}: listed ${listed}, record ${record}`];
  });
  if (found.length === 0) return true;
  throw new Error(`${found.length} of ${records.size} calls differ: ${found.slice(0, 3).join("; ")}`);
}

/** What a list and a record say alike. */
function factsOf(call: CallSummary | CallRecord): string {
  const { callId, functionName: name, namespace, state, acceptedAt, endedAt, retries } = call;
  return JSON.stringify([callId, name, namespace, state, acceptedAt, endedAt, retries]);
}
