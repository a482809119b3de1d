import { parseDuration } from "../../../api/duration.ts";
import type { CallSummary } from "../../../api/schemas/history/call-summary.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { counted } from "../../output/counted.ts";
import type { Column } from "../../output/format-table.ts";
import { namedFunction } from "../functions/named-function.ts";
import { callColumn } from "./call-columns.ts";
import { stateText } from "./call-text.ts";
import { historyNotes } from "./history-notes.ts";
import { readCalls, type FoundCalls } from "./read-calls.ts";
import { fromHistory } from "./refuse-history.ts";

interface ListCallOptions {
  /** `name`, or `name.namespace`. */
  readonly function?: string;
  readonly namespace?: string;
  readonly queue?: string;
  readonly kind?: CallSummary["kind"];
  readonly state?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly since?: string;
  readonly until?: string;
  readonly id?: string;
  readonly limit: string;
  readonly all?: boolean;
}

/** `weir calls list`. */
export const listCalls: CommandSpec<ListCallOptions> = {
  about: "Lists calls, the newest first. The gateway must keep a history of calls.",
  options: [
    { flags: "--function <name>", about: "only calls of this function; a namespace may follow after a dot" },
    { flags: "-n, --namespace <name>", about: "only calls of functions of this namespace" },
    { flags: "--queue <name>", about: "only calls that this queue held" },
    { flags: "--kind <kind>", about: "only queued calls, or only synchronous ones", choices: ["async", "sync"] },
    { flags: "--state <states>", about: "only calls in one of these states, as in queued,waiting" },
    { flags: "--status <statuses>", about: "only calls with one of these statuses, as in 404,5xx" },
    { flags: "--reason <reasons>", about: "only calls that failed for one of these reasons, as in exhausted" },
    { flags: "--since <time>", about: "only calls accepted since then: how long ago, as in 10m, or RFC 3339" },
    { flags: "--until <time>", about: "only calls accepted before then, in the same way" },
    { flags: "--id <digits>", about: "only calls whose ids begin so" },
    { flags: "--limit <number>", about: "at most so many", fallback: "50" },
    { flags: "--all", about: "all of them" },
  ],
  groups: ["gateway", "output"],
  examples: [
    { line: "weir calls list", about: "The last 50 calls of all functions" },
    { line: "weir calls list --function hello --state failed --since 1h", about: "What failed within the last hour" },
    { line: "weir calls list --status 5xx --all -o json", about: "All calls that ended so, for a program" },
  ],
  run: async (context, options) => {
    const limit = options.all === true ? Number.POSITIVE_INFINITY : parseLimit(options.limit);
    const query = await queryOf(context, options, Date.now());
    const gateway = await context.gateway();
    const found = await fromHistory(
      "list calls",
      () => readCalls(gateway, query, limit),
      "calls show and calls wait need none",
    );
    await context.output.list({ rows: found.items, columns, name: ({ callId }) => callId });
    context.output.note(countText(found));
    for (const note of historyNotes(found.history)) context.output.warn(note);
  },
};

const columns: readonly Column<CallSummary>[] = [
  { title: "CALL", cell: ({ callId }) => callId },
  { title: "FUNCTION", cell: ({ functionName, namespace }) => `${functionName}.${namespace}` },
  { title: "STATE", cell: stateText, state: true },
  callColumn.status,
  { title: "RETRIES", cell: ({ retries }) => String(retries), align: "right" },
  callColumn.took,
  callColumn.age,
];

/** The gateway says what is wrong with a value that is none. Durations are made times: pages are asked one by one. */
async function queryOf(context: CommandContext, options: ListCallOptions, now: number) {
  const { id, kind, namespace, queue, reason, since, state, status, until } = options;
  return {
    function: await functionOf(context, options),
    namespace: options.function === undefined ? namespace : undefined,
    queue,
    kind,
    state,
    status,
    reason,
    since: momentOf(since, now),
    until: momentOf(until, now),
    id,
  };
}

async function functionOf(context: CommandContext, options: ListCallOptions): Promise<string | undefined> {
  if (options.function === undefined) return undefined;
  const { name, namespace } = await namedFunction(context, options.function, options.namespace);
  return namespace === undefined ? name : `${name}.${namespace}`;
}

function momentOf(text: string | undefined, now: number): string | undefined {
  const ago = text === undefined ? undefined : parseDuration(text);
  return ago === undefined ? text : new Date(now - ago).toISOString();
}

function parseLimit(text: string): number {
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1) return limit;
  throw usageError(`Cannot use --limit "${text}": it must be a whole number from 1`);
}

/** As in `3 calls`, `50 of ~1200 calls`; `~` = estimated. */
function countText({ items, total: { exact, value } }: FoundCalls): string {
  if (exact && value <= items.length) return counted(items.length, "call");
  return `${items.length} of ${exact ? "" : "~"}${counted(value, "call")}`;
}
