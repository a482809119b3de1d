import type { CommandSpec } from "../../command-spec.ts";
import { readSecretValue, secretValueOptions, type SecretValueOptions } from "./secret-value.ts";
import { CliError } from "../../cli-error.ts";
import { exitCode } from "../../exit-code.ts";

interface CreateOptions extends SecretValueOptions {
  readonly replace?: boolean;
}

/** `weir secrets create`. */
export const createSecret: CommandSpec<CreateOptions> = {
  about:
    "Creates a secret that holds exactly one value: the content of a file, standard input, or a literal. Functions read it as a file of its name.",
  arguments: [{ name: "<name>", about: "name of the secret" }],
  options: [...secretValueOptions, { flags: "--replace", about: "change the secret if it is there already" }],
  groups: ["gateway", "namespace"],
  examples: [
    { line: "weir secrets create api-key --from-file key.txt", about: "The value is the file, byte for byte" },
    { line: "openssl rand -hex 16 | weir secrets create token --trim", about: "The value is one line of a program" },
  ],
  run: async (context, options, [name = ""]) => {
    const rawValue = (await readSecretValue(context, name, options, "create")).toString("base64");
    const body = { name, namespace: await context.namespace(), rawValue };
    const gateway = await context.gateway();
    try {
      await gateway.accepted("POST", "/system/secrets", { json: body });
    } catch (err) {
      if (!(err instanceof CliError) || err.code !== "secret_exists") throw err;
      if (options.replace !== true)
        throw new CliError(exitCode.failed, err.message, { cause: err, hint: `weir secrets update ${name}` });
      await gateway.accepted("PUT", "/system/secrets", { json: body });
    }
    context.output.note(`Secret "${name}" is stored`);
  },
};
