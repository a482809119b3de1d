import Type from "typebox";

import { CallPageView } from "../../../../api/schemas/history/call-page.ts";
import { callKinds, callSources, historyStates } from "../../../../api/schemas/history/call-summary.ts";
import type { Principal } from "../../../../core/access/principal.ts";
import { callPageView } from "../../../../core/history/call-page-view.ts";
import { gapsTouching } from "../../../../core/history/gaps-touching.ts";
import { parseCallList } from "../../../../core/history/parse-call-list.ts";
import { realNamespace } from "../../../../core/namespaces/namespace-rules.ts";
import type { CallHistory, CallListQuery, CallPage } from "../../../../core/ports/call-history.ts";
import { route } from "../../route.ts";
import { requireKnown } from "./known-function.ts";
import { requiredHistory } from "./required-history.ts";
import { requireWithin, seesAll, visibleFunctions } from "./visible-functions.ts";

/** The action of listing calls. */
export const listCallsAction = "Call:List";

const text = (description: string, ...examples: readonly string[]) =>
  Type.Optional(Type.String({ description, examples: [...examples] }));

const CallListQueryParameters = Type.Object({
  function: text("Only of this function: name, or name.namespace", "hello", "hello.dev"),
  namespace: text("Only of functions of this namespace", "functions"),
  queue: text("Only of this queue", "default"),
  kind: text(`Only of this kind: ${callKinds.join(" or ")}`, "async"),
  state: text(`Only in one of these states: ${historyStates.join(", ")}`, "failed", "queued,waiting"),
  status: text("Only with one of these statuses or classes", "5xx", "404,5xx"),
  reason: text("Only of those that failed for one of these reasons", "exhausted"),
  source: text(`Only from one of these sources: ${callSources.join(", ")}`, "http"),
  since: text("Only accepted since then: a time, or a duration back from now", "1h", "2026-01-31T12:00:00Z"),
  until: text("Only accepted before then, in the same way", "10m"),
  id: text("Only with an id that begins so: 4 to 32 hexadecimal digits", "7f3c1d52"),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 50, description: "Most items of a page", examples: [50] }),
  ),
  after: text("`next` of the previous page, with the same filter"),
});

/** The list of calls. */
export const callListRoute = route(
  {
    id: "listCalls",
    group: "call history",
    method: "GET",
    path: "/system/calls",
    needs: listCallsAction,
    filters: true,
    about: "Lists calls, the newest first, as the history of calls has seen them.",
    details:
      "Shows those of functions whose calls the sender may list. Several values of state, status, reason and source are separated by commas. `next` stays good while calls are kept: new ones never shift a page, and where a filter is rare a page may have fewer items than limit and a next one. The total is exact up to 1 000. The history may be behind by lagSeconds; records that it missed are gaps.",
    query: CallListQueryParameters,
    responses: [{ status: 200, about: "One page of calls", schema: CallPageView }],
    errors: ["function_not_found", "history_off", "history_unavailable"],
    trial: {
      commands: 'curl -u admin:$P "$G/system/calls?function=echo&since=1h&limit=2"',
      shows: '{"items":[…],…"history":{"lagSeconds":…}}',
    },
  },
  ({ functions, history, namespaces }) =>
    async ({ query, principal }) => {
      const asked = parseCallList(query, Date.now(), (name) => realNamespace(name, namespaces));
      requireWithin(principal, listCallsAction, asked.filter);
      const { reads, progress } = requiredHistory(history, "list calls");
      // Before the page: it would say of a page how far the history has come since.
      const state = await progress();
      const page = await permittedPage(principal, asked, reads);
      const { function: ref, since } = asked.filter;
      if (ref !== undefined && page.rows.length === 0) await requireKnown([ref], functions, reads);
      return callPageView(page, query, gapsTouching(state, page.next?.accepted ?? since));
    },
);

/** The page of a list as far as a sender may see it. */
export async function permittedPage(principal: Principal, asked: CallListQuery, reads: CallHistory): Promise<CallPage> {
  if (asked.filter.function !== undefined || seesAll(principal, listCallsAction)) return reads.list(asked);
  const visible = await visibleFunctions(reads, principal, listCallsAction, asked.filter);
  if (visible.length === 0) return { rows: [], total: { value: 0, exact: true } };
  const names = visible.map(({ namespace, name }) => `${namespace}/${name}`);
  return reads.list({ ...asked, filter: { ...asked.filter, permitted: names } });
}
