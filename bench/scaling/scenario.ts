import type { ScaleRules } from "../../runtime/core/scaling/scale-rules.ts";
import { ramp, sine, sleep, spike, type LoadShape } from "./load-shape.ts";

/** A function under load. */
export interface LoadedFunction {
  readonly name: string;
  /** Without the prefix `com.service.scale.`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly command: string;
  /** Its calls are queued. */
  readonly queued: boolean;
  readonly shape: LoadShape;
}

/** The functions that are loaded at the same time. */
export interface Scenario {
  readonly name: string;
  readonly seconds: number;
  readonly functions: readonly LoadedFunction[];
}

export type ScaleType = ScaleRules["type"];

/** What a function does with a call, and the target load of a replica; 9 calls per second are about the load of one. */
const kinds = {
  rps: { target: "10", act: 'r.end("ok")' },
  capacity: { target: "2", act: 'setTimeout(() => r.end("ok"), 200)' },
  // A starting replica briefly uses more than its target, and a reading of half a second that finds this counts until
  // the next one.
  cpu: {
    target: "200",
    act: 'const from = process.cpuUsage(); let used; do used = process.cpuUsage(from); while (used.user + used.system < 15000); r.end("ok")',
    "down.window": "10s",
  },
  // One call at a time. The queue grows while there are too few replicas and shrinks as soon as there are enough, so
  // its depth alone says too little to remove replicas at once.
  queue: {
    target: "10",
    act: 'last = last.then(() => new Promise((done) => setTimeout(() => { r.end("ok"); done(); }, 100)))',
    "down.window": "5s",
  },
} as const satisfies Record<ScaleType, { target: string; act: string; "down.window"?: string }>;

/** A function that is scaled by `type` and called according to `shape`. */
export function loadedFunction(
  type: ScaleType,
  shape: LoadShape,
  labels: Readonly<Record<string, string>> = {},
  name = type as string,
): LoadedFunction {
  const { act, ...rules } = kinds[type];
  const program = `let last = Promise.resolve(); require("node:http").createServer((q, r) => { ${act} }).listen(process.env.PORT, "127.0.0.1")`;
  const queued = type === "queue";
  return { name, labels: { type, max: "5", ...rules, ...labels }, command: `node -e '${program}'`, queued, shape };
}

const [low, high] = [4, 32];
const shapes = {
  ramp: (type) => ({
    seconds: 36,
    functions: [loadedFunction(type, ramp([2, low], [14, high], [18, high], [26, low]))],
  }),
  spike: (type) => ({ seconds: 30, functions: [loadedFunction(type, spike({ low, high, from: 6, to: 16 }))] }),
  sine: (type) => ({ seconds: 36, functions: [loadedFunction(type, sine({ low, high, period: 16 }))] }),
  sleep: (type) => ({
    seconds: 36,
    functions: [
      loadedFunction(type, sleep({ rate: high / 2, from: 8, to: 26 }), { zero: "true", "zero-duration": "10s" }),
    ],
  }),
  duel: (type) => ({
    seconds: 40,
    functions: [0, 10].map((ahead) =>
      loadedFunction(type, sine({ low, high, period: 20, ahead }), {}, `${type}-${ahead === 0 ? "one" : "two"}`),
    ),
  }),
} as const satisfies Record<string, (type: ScaleType) => Omit<Scenario, "name">>;

/** Every shape for every type: `rps-ramp` … `queue-duel`. */
export const scenarios: readonly Scenario[] = Object.entries(shapes).flatMap(([shape, make]) =>
  (["rps", "capacity", "cpu", "queue"] as const).map((type) => ({ name: `${type}-${shape}`, ...make(type) })),
);
