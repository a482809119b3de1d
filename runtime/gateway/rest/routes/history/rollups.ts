import Type from "typebox";

import { Rollups, rollupStepNames } from "../../../../api/schemas/history/rollups.ts";
import type { DesiredFunction } from "../../../../core/functions/desired-function.ts";
import { parseRollupQuery } from "../../../../core/history/rollups/parse-rollup-query.ts";
import { rollupSeries } from "../../../../core/history/rollups/rollup-series.ts";
import { presence } from "../../../../core/history/rollups/presence.ts";
import { rollupSteps, type RollupSeries } from "../../../../core/history/rollups/rollup.ts";
import { rollupsView } from "../../../../core/history/rollups/rollups-view.ts";
import { withIdle } from "../../../../core/history/rollups/with-idle.ts";
import { realNamespace } from "../../../../core/namespaces/namespace-rules.ts";
import type { CallHistory, RollupQuery } from "../../../../core/ports/call-history.ts";
import { route } from "../../route.ts";
import { requireKnown } from "./known-function.ts";
import { requiredHistory } from "./required-history.ts";
import { requireWithin, visibleFunctions, type CallScope } from "./visible-functions.ts";

const rollupAction = "Function:Get";

/** Functions with most calls that are shown apart. */
const topFunctions = 20;

const RollupQueryParameters = Type.Object({
  function: Type.Optional(
    Type.String({
      description: "Names of functions, or name.namespace, with commas between them; at most 50",
      examples: ["hello", "hello,pay.dev"],
    }),
  ),
  namespace: Type.Optional(Type.String({ description: "Only functions of this namespace", examples: ["functions"] })),
  since: Type.Optional(
    Type.String({
      description: "Begin: a time, or a duration back from now; an hour before the end when absent",
      examples: ["6h", "2026-01-31T12:00:00Z"],
    }),
  ),
  until: Type.Optional(
    Type.String({ description: "End, in the same way; now when absent", examples: ["2026-01-31T13:00:00Z"] }),
  ),
  step: Type.Optional(
    Type.String({
      description: `Length of an interval: ${rollupStepNames.join(", ")}; the finest that fits when absent`,
      examples: [...rollupStepNames],
    }),
  ),
});

/** Figures of functions over time. */
export const rollupRoute = route(
  {
    id: "readRollups",
    group: "call history",
    method: "GET",
    path: "/system/rollups",
    needs: rollupAction,
    filters: true,
    about: "Shows how functions were called over time: a column per figure, a member per interval.",
    details:
      "Without function: all that the sender may see in one series, and those with most calls. null is what is not known, it is never 0; a function that was there and idle has 0 calls. Intervals of 10s are kept for 6 hours, of 1m for 7 days, of 1h for 90 days; a response has at most 1 000.",
    query: RollupQueryParameters,
    responses: [{ status: 200, about: "The figures", schema: Rollups }],
    errors: ["function_not_found", "history_off", "history_unavailable"],
    trial: {
      commands: 'curl -u admin:$P "$G/system/rollups?function=echo&since=10m"',
      shows: '{"step":"10s","from":…,"series":[{"functionName":"echo",…}]}',
    },
  },
  ({ functions, history, namespaces, view }) =>
    async ({ query, principal }) => {
      const asked = parseRollupQuery(query, Date.now(), (name) => realNamespace(name, namespaces));
      const { functions: named, namespace, ...span } = asked;
      const scope: CallScope = namespace === undefined ? {} : { namespace };
      for (const each of named?.map((ref) => ({ function: ref })) ?? [scope])
        requireWithin(principal, rollupAction, each);
      const { reads } = requiredHistory(history, "show rollups");
      if (named === undefined) {
        return ofAll({ ...span, functions: await visibleFunctions(reads, principal, rollupAction, scope) }, reads);
      }
      const [counted, ...series] = await reads.rollups({ ...span, functions: [presence, ...named] });
      await requireKnown(series.filter(isEmpty), functions, reads);
      if (counted === undefined) return rollupsView(span, series);
      const times = { since: span.since, length: rollupSteps[span.step].length };
      const whole = series.map((one) => withIdle(one, counted, times, deployedAt(view.wanted(one))));
      return rollupsView(span, whole);
    },
);

/** Functions together, and those of them with most calls. */
async function ofAll(query: RollupQuery, reads: CallHistory): Promise<Rollups> {
  if (query.functions.length === 0) return rollupsView(query, rollupSeries([], { ...query, summed: true }), []);
  const [all, top] = await Promise.all([
    reads.rollups({ ...query, functions: [...query.functions, presence], summed: true }),
    reads.rollups({ ...query, top: topFunctions }),
  ]);
  return rollupsView(query, all, top);
}

function deployedAt(wanted: DesiredFunction | undefined): number | undefined {
  return wanted === undefined ? undefined : Date.parse(wanted.createdAt);
}

function isEmpty({ scalings, namespace: _namespace, name: _name, ...columns }: RollupSeries): boolean {
  return scalings.length === 0 && Object.values(columns).every((column) => column.every((value) => value === null));
}
