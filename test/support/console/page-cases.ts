import { jsonReply, noReply, problemReply, streamReply, type ConsoleFront, type FrontReply } from "./console-front.ts";
import {
  longCall,
  manyCalls,
  manyFindings,
  manyFunctions,
  manyLetters,
  manyNamespaces,
  manyQueues,
  manyRecords,
  manySecrets,
} from "./many-rows.ts";

/** Something on a page that shows that it has come to rest. */
type Shows = RegExp | string;

/** One state of a page: what the gateway says in it, if not the truth, and what then stands on the page. */
export interface PageCase {
  readonly page: string;
  readonly state: string;
  readonly path: string;
  readonly shows: Shows;
  readonly replies?: (front: ConsoleFront) => void;
}

/** What is in a platform that has something of everything. */
export interface Seeded {
  readonly failed: string;
  readonly done: string;
}

const functionPage = "/ui/f/functions/hello";
const api = (path: string): RegExp => new RegExp(`^GET ${path}(?:\\?|$)`);
const watch = api("/system/watch");
const hello = ["hello", { release: "0.1.0", apiVersion: "1.0", time: new Date().toISOString() }] as const;

const historyAway = problemReply(503, "history_unavailable", "Cannot list calls: the history does not reply", {
  "Retry-After": "2",
});
const queueAway = problemReply(503, "queue_unavailable", "Cannot reach the queue: the broker is away", {
  "Retry-After": "2",
});
const forbidden = (action: string): FrontReply =>
  problemReply(403, "forbidden", `Cannot do this: action ${action} on * is not allowed to "fed:alice"`);
const busy = problemReply(429, "too_many_streams", "Cannot watch: 200 streams are open", { "Retry-After": "10" });

/** Pages of a platform on which nothing was deployed. */
export const emptyCases: readonly PageCase[] = [
  { page: "overview", state: "empty", path: "/ui/", shows: /weir init/ },
  { page: "calls", state: "empty", path: "/ui/calls", shows: /weir invoke hello --async/ },
  { page: "queues", state: "empty", path: "/ui/queues", shows: "default" },
  { page: "dead-letters", state: "empty", path: "/ui/dead-letters", shows: "Nothing was given up" },
  { page: "secrets", state: "empty", path: "/ui/secrets", shows: "No secret in this namespace" },
  { page: "namespaces", state: "empty", path: "/ui/namespaces", shows: "functions" },
  { page: "audit", state: "empty", path: "/ui/audit?action=Secret:Delete", shows: "No record fits these filters" },
  { page: "function", state: "missing", path: "/ui/f/functions/nope", shows: /There is no function "nope"/ },
  { page: "queue", state: "missing", path: "/ui/queues/nope", shows: /There is no queue "nope"/ },
  {
    page: "call",
    state: "missing",
    path: "/ui/calls/00000000-0000-4000-8000-000000000000",
    shows: /it is unknown or expired/,
  },
  { page: "nowhere", state: "missing", path: "/ui/nowhere", shows: "There is no such page" },
];

/** Pages of a platform that has something of everything. */
export function seededCases({ failed, done }: Seeded): readonly PageCase[] {
  const one = (page: string, path: string, shows: Shows): PageCase => ({ page, state: "one", path, shows });
  return [
    one("overview", "/ui/", "hello"),
    one("new", "/ui/new", "New function"),
    one("function", functionPage, /Replicas/),
    one("edit", `${functionPage}/edit`, /Edit/),
    one("try", `${functionPage}/try`, "Path and query"),
    one("logs", `${functionPage}/logs`, /red/),
    one("scaling", `${functionPage}/scaling`, /Bounds|bounds/),
    one("calls", "/ui/calls", "failed"),
    one("call", `/ui/calls/${failed}`, "Dead letter"),
    one("call-done", `/ui/calls/${done}`, "Answered"),
    one("queues", "/ui/queues", "default"),
    one("queue", "/ui/queues/default", "Longest run"),
    one("dead-letters", "/ui/dead-letters", "exhausted"),
    one("secrets", "/ui/secrets", "api-key"),
    one("namespaces", "/ui/namespaces", "dev"),
    one("system", "/ui/system", "Findings"),
    one("access", "/ui/access", "Simulate"),
    one("audit", "/ui/audit", "Secret:Create"),
    ...full(failed),
    ...broken(failed),
  ];
}

/** Lists of 10 000 rows, and the longest of what has no rows. */
function full(id: string): readonly PageCase[] {
  const many = (page: string, path: string, shows: Shows, replies: PageCase["replies"]): PageCase => ({
    page,
    state: "10000",
    path,
    shows,
    ...(replies === undefined ? {} : { replies }),
  });
  const noGaps = { lagSeconds: 0.2, complete: true, gaps: [] };
  return [
    many("overview", "/ui/", /10,000 functions/, (front) =>
      front.replace(watch, streamReply([hello, ...functionEvents()])),
    ),
    many("calls", "/ui/calls", /~1,234,567 calls/, (front) => {
      front.replace(watch, streamReply([hello]));
      front.replace(
        api("/system/calls"),
        jsonReply({
          items: manyCalls,
          next: "older",
          total: { value: 1_234_567, exact: false },
          history: {
            ...noGaps,
            lagSeconds: 42,
            gaps: [{ from: manyCalls[9]?.acceptedAt, to: manyCalls[3]?.acceptedAt }],
          },
        }),
      );
    }),
    many("call", `/ui/calls/${id}`, "Run 132", (front) => {
      front.replace(watch, streamReply([hello]));
      front.replace(api(`/system/calls/${id}`), jsonReply(longCall(id)));
    }),
    many("queues", "/ui/queues", "queue-00000", (front) => {
      front.replace(watch, streamReply([hello]));
      front.replace(api("/system/queues"), jsonReply(manyQueues));
    }),
    many("dead-letters", "/ui/dead-letters?queue=default", /10,000 dead letters/, (front) => {
      front.replace(watch, streamReply([hello]));
      front.replace(api("/system/queue/default/dead-letters"), jsonReply({ items: manyLetters }));
    }),
    many("secrets", "/ui/secrets", "secret-f0", (front) =>
      front.replace(api("/system/secrets"), jsonReply(manySecrets)),
    ),
    many("namespaces", "/ui/namespaces", "team-00000", (front) =>
      front.replace(api("/system/namespaces"), jsonReply(manyNamespaces)),
    ),
    many("system", "/ui/system", "20 problems", (front) => {
      front.replace(watch, streamReply([hello]));
      front.replace(api("/system/doctor"), jsonReply(manyFindings));
    }),
    many("audit", "/ui/audit", /10,000 records/, (front) =>
      front.replace(api("/system/audit"), (request, response) => {
        request.resume();
        response.writeHead(200, { "content-type": "application/x-ndjson" });
        response.end(`${manyRecords.map((record) => JSON.stringify(record)).join("\n")}\n`);
      }),
    ),
  ];
}

function functionEvents() {
  return Array.from({ length: 20 }, (_, index) => {
    const rows = manyFunctions.slice(index * 500, (index + 1) * 500);
    return ["functions", { on: "functions", begin: index === 0, more: index < 19, rows, removed: [] }] as const;
  });
}

/** What does not reply, is refused, or is away. */
function broken(id: string): readonly PageCase[] {
  const bad = (
    page: string,
    path: string,
    shows: Shows,
    pattern: RegExp,
    reply: FrontReply,
    state = "broken",
  ): PageCase => ({ page, state, path, shows, replies: (front) => front.replace(pattern, reply) });
  return [
    bad("calls", "/ui/calls", /the history does not reply/, api("/system/calls"), historyAway),
    bad(
      "calls",
      "/ui/calls",
      /the setting history turns it on/,
      api("/system/calls"),
      problemReply(404, "history_off", "Cannot list calls: history is off; the setting history turns it on"),
      "off",
    ),
    bad("calls", "/ui/calls", /action Call:List/, api("/system/calls"), forbidden("Call:List"), "forbidden"),
    bad("calls", "/ui/calls?status=9xx", /Cannot read status "9xx"/, /^never$/, noReply, "unreadable"),
    bad("calls", "/ui/calls", /200 streams are open/, watch, busy, "full"),
    bad("call", `/ui/calls/${id}`, /the history does not reply/, api(`/system/calls/${id}`), historyAway),
    bad("call", `/ui/calls/${id}`, /Waiting for the call/, api(`/system/(?:watch|calls/${id})`), noReply, "slow"),
    bad("queues", "/ui/queues", /the broker is away/, api("/system/(?:watch|queues)"), queueAway),
    bad("queue", "/ui/queues/default", /the broker is away/, api("/system/(?:watch|queues)"), queueAway),
    bad(
      "dead-letters",
      "/ui/dead-letters?queue=default",
      /the broker is away/,
      api("/system/queue/default/dead-letters"),
      queueAway,
    ),
    bad("secrets", "/ui/secrets", /action Secret:List/, api("/system/secrets"), forbidden("Secret:List"), "forbidden"),
    bad("namespaces", "/ui/namespaces", /the broker is away/, api("/system/namespaces"), queueAway),
    bad("system", "/ui/system", /action System:Info/, api("/system/info"), forbidden("System:Info"), "forbidden"),
    bad("access", "/ui/access", /action Identity/, api("/system/iam/whoami"), forbidden("Identity:Get"), "forbidden"),
    bad("audit", "/ui/audit", /the broker is away/, api("/system/audit"), queueAway),
    bad("overview", "/ui/", /Waiting for the functions/, watch, noReply, "slow"),
  ];
}
