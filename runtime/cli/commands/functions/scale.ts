import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { usageError } from "../../cli-error.ts";
import { readOne } from "../../client/read-reply.ts";
import { functionReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { counted } from "../../output/counted.ts";
import { escapeLine } from "../../output/escape-text.ts";
import { namedFunction } from "./named-function.ts";

/** Most replicas of a function (contract §5.1). */
const mostReplicas = 1_000;

/** `weir scale`. */
export const scaleByHand: CommandSpec<{ readonly namespace?: string }> = {
  about:
    "Sets the number of replicas of a function by hand. The autoscaler leaves it alone for a time; 0 lasts until the next call.",
  arguments: [
    { name: "<name>", about: "function, as in hello or hello.dev", completes: "function" },
    { name: "<replicas>", about: "whole number from 0" },
  ],
  groups: ["gateway", "namespace"],
  examples: [
    { line: "weir scale hello 2", about: "Two replicas" },
    { line: "weir scale hello 0", about: "None, until the next call" },
  ],
  run: async (context, options, [text = "", count = ""]) => {
    const { name, namespace } = await namedFunction(context, text, options.namespace);
    const replicas = parseReplicas(name, count);
    const gateway = await context.gateway();
    await gateway.accepted("POST", `/system/scale-function/${name}`, { json: { replicas, namespace } });
    const status = await readOne(gateway, `/system/function/${name}`, functionReply, { query: { namespace } });
    context.output.note(
      `Function "${name}" is scaled to ${counted(status.replicas, "replica")}${whyOf(status, replicas)}`,
    );
  },
};

/** @throws CliError unless it is a number of replicas */
export function parseReplicas(name: string, text: string): number {
  const replicas = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (replicas <= mostReplicas) return replicas;
  throw usageError(`Cannot scale function "${name}" to "${text}": it must be a whole number from 0 to ${mostReplicas}`);
}

/** Why it is not the number that was asked for: the gateway keeps it within the limits of the function. */
function whyOf({ conditions, replicas }: FunctionStatus, asked: number): string {
  if (replicas === asked) return "";
  const message = conditions.find(({ type }) => type === "Scaling")?.message;
  return `, not ${asked}${message === undefined ? "" : `: ${escapeLine(message)}`}`;
}
