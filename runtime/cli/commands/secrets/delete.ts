import { grammarRule, isSecretName } from "../../../api/grammar.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { escapeLine } from "../../output/escape-text.ts";
import { readSecretUsers } from "./secret-users.ts";

/** `weir secrets delete`. */
export const removeSecret: CommandSpec = {
  about: "Deletes a secret. Functions that use it keep running, and are stalled at their next update.",
  arguments: [{ name: "<name>", about: "name of the secret", completes: "secret" }],
  groups: ["gateway", "namespace", "confirm"],
  examples: [{ line: "weir secrets delete api-key --yes", about: "Without a question, as in a script" }],
  run: async (context, _options, [name = ""]) => {
    if (!isSecretName(name)) throw usageError(`Cannot delete secret "${name}": its name must be ${grammarRule.secret}`);
    const gateway = await context.gateway();
    const namespace = await context.namespace();
    const users = (await readSecretUsers(gateway, namespace)).get(name) ?? [];
    await context.confirm(deletionQuestion(name, users));
    await gateway.accepted("DELETE", "/system/secrets", { json: { name, namespace } });
    context.output.note(`Secret "${name}" is deleted${users.length === 0 ? "" : `; used by ${usersText(users)}`}`);
  },
};

/** Asks whether a secret that these functions use may be deleted. */
export function deletionQuestion(name: string, users: readonly string[]): string {
  return users.length === 0 ? `Delete secret "${name}"?` : `Delete secret "${name}", used by ${usersText(users)}?`;
}

/** Functions that are named; of more only the number. */
const mostNamed = 5;

function usersText(users: readonly string[]): string {
  const named = users.slice(0, mostNamed).map((user) => escapeLine(user));
  const more = users.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
