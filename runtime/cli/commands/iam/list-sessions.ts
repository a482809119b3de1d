import type { OpenSession } from "../../../api/schemas/iam/session.ts";
import { readList } from "../../client/read-reply.ts";
import { sessionReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { localTime } from "../../output/age-text.ts";
import type { Column } from "../../output/format-table.ts";

/** `weir iam sessions list`. */
export const listSessions: CommandSpec = {
  about: "Lists who is signed in to the console. It needs Session:List.",
  groups: ["gateway", "output"],
  examples: [
    { line: "weir iam sessions list", about: "Everybody, the newest session first" },
    { line: "weir iam sessions list -o json", about: "The same for a program" },
  ],
  run: async (context) => {
    const rows = await readList(await context.gateway(), "/system/sessions", sessionReply);
    await context.output.list({ rows, columns, name: ({ id }) => id });
  },
};

const columns: readonly Column<OpenSession>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name = "" }) => name },
  { title: "SUBJECT", cell: ({ subject }) => subject },
  { title: "ISSUER", cell: ({ issuer = "" }) => issuer },
  { title: "SINCE", cell: ({ openedAt }) => localTime(openedAt) ?? "" },
  { title: "UNTIL", cell: ({ expiresAt }) => localTime(expiresAt) ?? "" },
];
