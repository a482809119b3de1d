import type { BuilderName } from "../../build/builders.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { chooseFunctions, type ChoiceOptions } from "../../deploy/plan/choose-functions.ts";
import { builderOption, choiceOptions, registryOption } from "../../deploy/deploy-options.ts";

interface DevOptions extends ChoiceOptions {
  readonly builder?: BuilderName;
  readonly registry?: string;
  readonly namespace?: string;
  readonly context?: string;
  readonly inspect?: boolean;
  readonly quiet?: boolean;
}

/** `weir dev`. */
export const devCommand: CommandSpec<DevOptions> = {
  about:
    "Deploys the functions of weir.yaml and again at each save, and shows what they log, until Ctrl-C or key q. If no gateway answers on this machine it starts a Weir for the project, which ends with it, keeps its data in .weir, and the requests of queued calls for an hour, to be replayed.",
  arguments: [{ name: "[name...]", about: "functions of weir.yaml; all by default", completes: "function" }],
  options: [
    ...choiceOptions,
    builderOption,
    registryOption,
    {
      flags: "--inspect",
      about: "for functions in Node.js: a debugger on this machine, one replica, calls of up to 1h",
    },
  ],
  groups: ["gateway", "namespace"],
  examples: [
    { line: "weir dev", about: "Everything in weir.yaml" },
    { line: "weir dev hello --inspect", about: "One function; its log says where a debugger attaches" },
  ],
  run: async (context, options, named) => {
    const { terminal, output } = context;
    const chosen = await chooseFunctions(terminal, named, options);
    const { DevStream } = await import("../../dev/dev-stream.ts");
    const { openDevGateway } = await import("../../dev/gateway/open-dev-gateway.ts");
    const { FollowedLogs } = await import("../../dev/followed-logs.ts");
    const { develop } = await import("../../dev/develop.ts");
    const stream = new DevStream(output);
    stream.expect(chosen.names);
    const byContextFlag = options.context !== undefined;
    const { client, own } = await openDevGateway(context, chosen.project, byContextFlag, (line, name) =>
      stream.say(line, name),
    );
    const { namespace: namespaceFlag, registry, builder, quiet = false, inspect = false } = options;
    const logs = new FollowedLogs(client, stream, terminal.signal);
    const asked = { namespaceFlag, registry, builder, quiet };
    const session = { ...asked, context, gateway: client, stream, logs, now: Date.now };
    await develop(session, chosen, named, { ...options, inspect }, own?.ended);
  },
};
