import type { CommandSpec } from "../../command-spec.ts";
import { readSecretValue, secretValueOptions, type SecretValueOptions } from "./secret-value.ts";

/** `weir secrets update`. */
export const updateSecret: CommandSpec<SecretValueOptions> = {
  about:
    "Gives a secret another value: the content of a file, standard input, or a literal. Running functions that read its file again see it: at once on one machine, within minutes on a cluster.",
  arguments: [{ name: "<name>", about: "name of the secret", completes: "secret" }],
  options: secretValueOptions,
  groups: ["gateway", "namespace"],
  examples: [
    { line: "weir secrets update api-key --from-file key.txt", about: "The value is the file, byte for byte" },
  ],
  run: async (context, options, [name = ""]) => {
    const rawValue = (await readSecretValue(context, name, options, "update")).toString("base64");
    const gateway = await context.gateway();
    await gateway.accepted("PUT", "/system/secrets", {
      json: { name, namespace: await context.namespace(), rawValue },
    });
    context.output.note(`Secret "${name}" has its new value`);
  },
};
