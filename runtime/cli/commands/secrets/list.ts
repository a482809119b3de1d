import type { SecretListItem } from "../../../api/schemas/secret.ts";
import { readList } from "../../client/read-reply.ts";
import { secretReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import type { Column } from "../../output/format-table.ts";
import { readSecretUsers, type SecretUsers } from "./secret-users.ts";

/** `weir secrets list`. */
export const listSecrets: CommandSpec = {
  about: "Lists the secrets of a namespace and the functions that use each. Values are never shown.",
  groups: ["gateway", "namespace", "output"],
  examples: [
    { line: "weir secrets list", about: "Those of the default namespace" },
    { line: "weir secrets list -o name", about: "Only their names, one on each line" },
  ],
  run: async (context) => {
    const gateway = await context.gateway();
    const namespace = await context.namespace();
    const rows = await readList(gateway, "/system/secrets", secretReply, { query: { namespace } });
    const users = context.output.format === "table" ? await readSecretUsers(gateway, namespace) : new Map();
    await context.output.list({ rows, columns: columnsOf(users), name: ({ name }) => name });
  },
};

function columnsOf(users: SecretUsers): readonly Column<SecretListItem>[] {
  return [
    { title: "NAME", cell: ({ name }) => name },
    { title: "USED BY", cell: ({ name }) => (users.get(name) ?? []).join(", ") },
  ];
}
