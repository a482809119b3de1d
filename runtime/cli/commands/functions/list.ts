import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { CliError } from "../../cli-error.ts";
import { readEach, readList } from "../../client/read-reply.ts";
import { functionReply, namespaceNameReply } from "../../client/reply-kinds.ts";
import { runLimited } from "../../client/run-limited.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { ageText } from "../../output/age-text.ts";
import { compareText } from "../../output/compare-text.ts";
import type { Column } from "../../output/format-table.ts";

interface ListOptions {
  readonly allNamespaces?: boolean;
  readonly sort: "name" | "age" | "calls" | "replicas";
}

/** Namespaces that are listed at the same time. */
const mostRequests = 8;

/** `weir list`. */
export const listFunctions: CommandSpec<ListOptions> = {
  about: "Lists the functions of a namespace, or of all, with their replicas, calls and state.",
  options: [
    { flags: "-A, --all-namespaces", about: "list the functions of every namespace" },
    {
      flags: "--sort <key>",
      about: "order of the rows",
      fallback: "name",
      choices: ["name", "age", "calls", "replicas"],
    },
  ],
  groups: ["gateway", "namespace", "output"],
  examples: [
    { line: "weir list", about: "The functions of the default namespace" },
    { line: "weir list -o name", about: "Only their names, one on each line" },
    { line: "weir list --all-namespaces --sort calls", about: "All functions, the most called ones first" },
  ],
  run: async (context, { allNamespaces = false, sort }) => {
    const gateway = await context.gateway();
    const namespaces = allNamespaces
      ? await readList(gateway, "/system/namespaces", namespaceNameReply)
      : [await context.namespace()];
    const { format } = context.output;
    const isDocument = format === "json" || format === "yaml";
    const rows: ListedFunction[] = [];
    await runLimited(namespaces, mostRequests, async (namespace) => {
      try {
        const query = { namespace };
        const read = readEach(gateway, "/system/functions", functionReply, { query }, isDocument ? whole : listed);
        for (const row of await read) rows.push(row);
      } catch (err) {
        // One that was deleted since it was listed has no functions.
        if (!allNamespaces || !(err instanceof CliError) || err.code !== "namespace_not_found") throw err;
      }
    });
    await context.output.list({
      rows: rows.toSorted(orders[sort]),
      columns: allNamespaces ? [namespaceColumn, ...columns] : columns,
      name: (row) => (allNamespaces ? `${row.name}.${row.namespace}` : row.name),
      element: ({ status }) => status,
    });
  },
};

/** What a row shows: of 10 000 functions no more is kept. */
interface ListedFunction extends Pick<
  FunctionStatus,
  "availableReplicas" | "createdAt" | "image" | "invocationCount" | "name" | "namespace" | "replicas"
> {
  readonly state: string;
  /** All of it, for a document. */
  readonly status?: FunctionStatus;
}

function listed(status: FunctionStatus): ListedFunction {
  const { availableReplicas, createdAt, image, invocationCount, name, namespace, replicas } = status;
  return { availableReplicas, createdAt, image, invocationCount, name, namespace, replicas, state: stateOf(status) };
}

const whole = (status: FunctionStatus): ListedFunction => ({ ...listed(status), status });

const byName = (a: ListedFunction, b: ListedFunction): number =>
  compareText(a.namespace, b.namespace) || compareText(a.name, b.name);

const orders: Readonly<Record<ListOptions["sort"], (a: ListedFunction, b: ListedFunction) => number>> = {
  name: byName,
  age: (a, b) => compareText(b.createdAt, a.createdAt) || byName(a, b),
  calls: (a, b) => b.invocationCount - a.invocationCount || byName(a, b),
  replicas: (a, b) => b.availableReplicas - a.availableReplicas || byName(a, b),
};

const namespaceColumn: Column<ListedFunction> = { title: "NAMESPACE", cell: ({ namespace }) => namespace };
const columns: readonly Column<ListedFunction>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "READY", cell: ({ availableReplicas, replicas }) => `${availableReplicas}/${replicas}`, align: "right" },
  { title: "CALLS", cell: ({ invocationCount }) => String(invocationCount), align: "right" },
  { title: "STATE", cell: ({ state }) => state, state: true },
  { title: "AGE", cell: ({ createdAt }) => ageText(createdAt), align: "right" },
  { title: "IMAGE", cell: ({ image }) => image },
];

/** The one condition that says most: what prevents it, else whether it is ready. */
function stateOf({ conditions, replicas }: FunctionStatus): string {
  const stalled = conditions.find(({ type, status }) => type === "Stalled" && status === "True");
  if (stalled !== undefined) return `Stalled: ${stalled.reason}`;
  if (replicas === 0) return "Scaled to zero";
  const ready = conditions.find(({ type }) => type === "Ready");
  return ready?.status === "True" ? "Ready" : (ready?.reason ?? "");
}
