import { below, pick, type Random } from "../../scripts/random.ts";

/** A request to a route of the history. */
export interface FuzzedRequest {
  readonly method: "GET";
  /** With its query. */
  readonly path: string;
}

const hostile: readonly [string, ...string[]] = [
  "'",
  "''; DROP TABLE call; --",
  '" OR 1=1 --',
  "%",
  "_",
  "\\",
  "\u0000",
  "\u202e",
  "\ud83d\ude80",
  "x".repeat(2_000),
  "-1",
  "1e309",
  "NaN",
  "null",
  "[]",
  "{}",
  "../../etc/passwd",
  "?1",
  ":id",
  "9007199254740993",
];
const times: readonly [string, ...string[]] = [
  "1h",
  "7d",
  "1m",
  "2026-01-31T12:00:00Z",
  "0s",
  "99999999d",
  "-1h",
  "now",
];
const names: readonly [string, ...string[]] = [
  "echo",
  "function-3",
  "function-3.functions",
  "none",
  "a,b,,c",
  "echo.none",
];
const words = {
  state: ["done", "failed", "queued,running", "unknown", "lost"],
  kind: ["async", "sync", "both"],
  source: ["http", "replay", "http,replay"],
  status: ["200", "5xx", "4xx,503", "9xx", "0"],
  reason: ["crash", "exhausted,expired", "why"],
  step: ["10s", "1m", "1h", "7s"],
  limit: ["1", "50", "500", "0", "501"],
  id: ["0000", "abcd", "0123456789abcdef", "xyz"],
  after: ["", "AAAA", "eyJhIjoxfQ"],
  tail: ["0", "1", "100", "100000000"],
  instance: ["r1", "none"],
} as const;

/** Parameters of the routes, without those that keep a stream open. */
const parameters = {
  calls: ["function", "namespace", "queue", "kind", "state", "status", "reason", "source", "since", "until"],
  more: ["id", "limit", "after"],
  rollups: ["function", "namespace", "since", "until", "step"],
  logs: ["name", "namespace", "instance", "since", "until", "tail", "call"],
} as const;

/** Requests with any parameters: valid ones, nearly valid ones, and such as are meant to harm. `ids` are those of calls. */
export class HistoryFuzz {
  readonly #random: Random;
  readonly #ids: readonly [string, ...string[]];

  constructor(random: Random, ids: readonly [string, ...string[]]) {
    this.#random = random;
    this.#ids = ids;
  }

  next(): FuzzedRequest {
    const { calls, more, rollups, logs } = parameters;
    switch (below(this.#random, 6)) {
      case 0:
      case 1:
        return this.#get("/system/calls", [...calls, ...more]);
      case 2:
        return this.#get("/system/rollups", rollups);
      case 3:
        return this.#get(`/system/calls/${encodeURIComponent(this.#id())}/logs`, ["tail"]);
      case 4: {
        const part = pick(this.#random, ["", "", "/request"]);
        return { method: "GET", path: `/system/calls/${encodeURIComponent(this.#id())}${part}` };
      }
      default:
        return this.#get("/system/logs", logs, [["history", "true"]]);
    }
  }

  #get(path: string, all: readonly string[], more: readonly (readonly [string, string])[] = []): FuzzedRequest {
    const chosen = all.filter(() => this.#random() < 2.5 / all.length);
    const query = [...chosen.map((name) => [name, this.#value(name)] as const), ...more];
    const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    return { method: "GET", path: text === "" ? path : `${path}?${text}` };
  }

  #value(name: string): string {
    const random = this.#random;
    if (random() < 0.25) return pick(random, hostile);
    const known: readonly string[] | undefined = Object.entries(words).find(([word]) => word === name)?.[1];
    const [first, ...others] = known ?? [];
    if (first !== undefined) return pick(random, [first, ...others]);
    if (name === "since" || name === "until") return pick(random, times);
    if (name === "call") return this.#id();
    if (name === "namespace") return pick(random, ["functions", "shop", "none", "kube-system"]);
    return name === "queue" ? pick(random, ["default", "slow", "none"]) : pick(random, names);
  }

  #id(): string {
    return this.#random() < 0.2 ? pick(this.#random, hostile) : pick(this.#random, this.#ids);
  }
}
