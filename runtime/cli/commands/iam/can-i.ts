import type { SimulateReply } from "../../../api/schemas/iam/access.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import {
  actorOf,
  actorOptions,
  askGateway,
  checkAction,
  checkResource,
  type ActorFlags,
} from "../../iam/access-question.ts";
import { escapeLine } from "../../output/escape-text.ts";

/** `weir iam can-i`. */
export const canI: CommandSpec<ActorFlags> = {
  about:
    "Says whether an action on a resource is allowed, by the rules in force: to whoever signs in, or to somebody else. It ends with 0 for yes and 1 for no. Whoever asks needs System:Simulate.",
  arguments: [
    { name: "<action>", about: "as in Function:Delete" },
    { name: "<resource>", about: "namespace:function, namespace:* or *" },
  ],
  options: actorOptions,
  groups: ["gateway", "output"],
  examples: [
    { line: "weir iam can-i Function:Delete functions:hello", about: "Whether you may delete a function" },
    {
      line: "weir iam can-i Secret:Create 'dev:*' --as claims.json",
      about: "Whether somebody with these claims may create secrets in a namespace",
    },
  ],
  run: async (context, options, [action = "", resource = ""]) => {
    checkAction(action);
    checkResource(resource);
    const actor = await actorOf(options, context.terminal);
    const decision = await askGateway(await context.gateway(), { ...actor, action, resource });
    const answer = decision.allowed ? "yes" : "no";
    await context.output.value(decision, {
      text: () => `${answer}: ${escapeLine(reasonOf(decision))}\n`,
      name: answer,
    });
    // The answer says it all.
    if (!decision.allowed) throw new CliError(exitCode.failed, "");
  },
};

/** By what it is allowed, or what is missing. */
export function reasonOf({ allowed, role, policy, sid, missing, reportedBy }: SimulateReply): string {
  if (allowed) {
    if (policy === undefined) return role === undefined ? "it is allowed" : `${role} may do everything`;
    const by = role === undefined ? "" : `Role "${role}" gives `;
    return `${by}Policy "${policy}"${sid === undefined ? "" : `, statement "${sid}"`}`;
  }
  const what = missing === undefined ? "it" : `${missing.action} on ${missing.resource}`;
  const reported =
    reportedBy === undefined ? "" : `; Role "${reportedBy}" would, but it is in mode report and only logs that`;
  return `no policy allows ${what}${reported}`;
}
