import type { SimulateReply } from "../../../api/schemas/iam/access.ts";
import { runLimited } from "../../client/run-limited.ts";
import type { CommandSpec } from "../../command-spec.ts";
import {
  actorOf,
  actorOptions,
  askGateway,
  checkAction,
  checkResource,
  singleActions,
  type ActorFlags,
} from "../../iam/access-question.ts";

/** Questions that are sent at once. */
const mostAtOnce = 4;
/** Kinds of actions whose resources are in a namespace. */
const namespacedAction = /^(?:Function|Secret|Namespace|Call):/;

interface Simulated extends SimulateReply {
  readonly action: string;
  readonly resource: string;
}

/** `weir iam simulate`. */
export const simulateAccess: CommandSpec<ActorFlags> = {
  about:
    "Lists which actions on a resource are allowed by the rules in force, and by which Role, Policy and statement: to whoever signs in, or to somebody else. Whoever asks needs System:Simulate.",
  arguments: [
    { name: "<resource>", about: "namespace:function, namespace:* or *" },
    { name: "[action...]", about: "only these, as in Function:Delete; by default all that concern the resource" },
  ],
  options: actorOptions,
  groups: ["gateway", "output"],
  examples: [
    {
      line: "weir iam simulate functions:hello --as claims.json",
      about: "What somebody with these claims may do to a function",
    },
    { line: "weir iam simulate 'dev:*' -o json", about: "What you may do in a namespace, for a program" },
  ],
  run: async (context, options, [resource = "", ...named]) => {
    checkResource(resource);
    for (const action of named) checkAction(action);
    const actor = await actorOf(options, context.terminal);
    const gateway = await context.gateway();
    const actions = named.length > 0 ? [...new Set(named)] : actionsOn(resource);
    const decisions = new Map<string, SimulateReply>();
    await runLimited(actions, mostAtOnce, async (action) => {
      decisions.set(action, await askGateway(gateway, { ...actor, action, resource }));
    });
    const rows = actions.flatMap((action): Simulated[] => {
      const decision = decisions.get(action);
      return decision === undefined ? [] : [{ action, resource, ...decision }];
    });
    await context.output.list({
      rows,
      columns: [
        { title: "ACTION", cell: ({ action }) => action },
        { title: "ALLOWED", cell: ({ allowed }) => (allowed ? "yes" : "no") },
        { title: "ROLE", cell: ({ role = "" }) => role },
        { title: "POLICY", cell: ({ policy = "" }) => policy },
        { title: "STATEMENT", cell: ({ sid = "" }) => sid },
        { title: "REPORTED BY", cell: ({ reportedBy = "" }) => reportedBy },
      ],
      name: ({ action, allowed }) => `${action} ${allowed ? "yes" : "no"}`,
    });
  },
};

/** Actions that a route can ask for on such a resource. */
function actionsOn(resource: string): readonly string[] {
  return resource === "*" ? singleActions : singleActions.filter((action) => namespacedAction.test(action));
}
