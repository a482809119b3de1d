import Type, { type Static } from "typebox";

import { functionName, namespaceName, time } from "../name-schemas.ts";
import { openEnum } from "../open-enum.ts";

/** Steps of rollups, finest first. */
export const rollupStepNames = ["10s", "1m", "1h"] as const;

// One type with two names is written faster than a union: a response has up to 400 000 of these.
const numberOrNull = Type.Unsafe<number | null>({ type: ["number", "null"], minimum: 0 });

const column = (description: string, example: number) =>
  Type.Array(numberOrNull, { description: `${description}; null = not known`, examples: [[example, null]] });

/** One change of a function's count of replicas. */
export const ScalingView = Type.Object(
  {
    at: time("When it was decided"),
    from: Type.Integer({ minimum: 0, description: "Replicas before", examples: [1] }),
    to: Type.Integer({ minimum: 0, description: "Replicas after", examples: [3] }),
    reason: Type.String({ description: "Why, in one word", examples: ["load"] }),
    message: Type.String({
      description: "Why, in a sentence",
      examples: ["12 calls are in flight, 5 fit one replica"],
    }),
  },
  {
    title: "Scaling",
    description: "A change of a function's count of replicas",
    examples: [{ at: "2026-01-31T12:00:00.000Z", from: 1, to: 3, reason: "load", message: "12 calls are in flight" }],
  },
);

const columns = {
  calls: column("Calls and queued runs that ended", 12),
  errors: column("Those with a status of 500 or more", 0),
  p50: column("Half of them took no longer, milliseconds", 11.3),
  p95: column("95 of 100 took no longer, milliseconds", 40.2),
  coldStarts: column("Those that waited for a replica to start", 0),
  replicas: column("Replicas at the end of the interval", 1),
  inFlight: column("Calls in flight at the end of the interval", 0),
  queued: column("Calls in the queue at the end of the interval", 0),
  scalings: Type.Array(ScalingView, { description: "Changes of its count of replicas" }),
};

const exampleColumns = {
  calls: [12, null],
  errors: [0, null],
  p50: [11.3, null],
  p95: [40.2, null],
  coldStarts: [0, null],
  replicas: [1, null],
  inFlight: [0, null],
  queued: [0, null],
  scalings: [],
};

/** What happened to a function, interval by interval. */
export const RollupSeriesView = Type.Object(
  {
    functionName: Type.Optional(functionName("Name of the function; absent where many are summed up")),
    namespace: Type.Optional(namespaceName("Real name of its namespace")),
    ...columns,
  },
  {
    title: "RollupSeries",
    description: "Columns of one function, with a member per interval",
    examples: [{ functionName: "hello", namespace: "functions", ...exampleColumns }],
  },
);

/** Calls of functions over time. */
export const Rollups = Type.Object(
  {
    step: openEnum(rollupStepNames, "Length of an interval"),
    from: time("Begin of the first interval"),
    series: Type.Array(RollupSeriesView, { description: "One per function, or all functions in one" }),
    top: Type.Optional(Type.Array(RollupSeriesView, { description: "The functions with most calls, most first" })),
  },
  {
    title: "Rollups",
    description: "Calls of functions over time",
    examples: [{ step: "10s", from: "2026-01-31T12:00:00.000Z", series: [exampleColumns] }],
  },
);
export type Rollups = Readonly<Static<typeof Rollups>>;
export type RollupColumns = Rollups["series"][number];
