import Type from "typebox";

import { parseBoolean } from "../../../api/boolean.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { AuditRecord } from "../../../api/schemas/iam/audit.ts";
import type { AuditQuery } from "../../../core/ports/audit-trail.ts";
import { quote } from "../../../core/quote.ts";
import { parseLogQuery } from "../../../core/replicas/log-query.ts";
import { route } from "../route.ts";
import { sendRecords } from "./send-records.ts";

const AuditParameters = Type.Object({
  since: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Only what was decided since then; without a zone it is UTC",
      examples: ["2026-01-31T12:00:00Z"],
    }),
  ),
  subject: Type.Optional(
    Type.String({ description: "Only of this subject, or of people of this name; `*` stands for anything" }),
  ),
  action: Type.Optional(
    Type.String({ description: "Only of this action; `*` stands for anything", examples: ["Function:*"] }),
  ),
  allowed: Type.Optional(Type.Boolean({ description: "true: changes only; false: refusals only" })),
  follow: Type.Optional(Type.Boolean({ description: "Whether to continue until the client leaves" })),
});

/** The audit trail (`iam.md` §7). */
export const auditRoute = route(
  {
    id: "readAudit",
    group: "platform",
    method: "GET",
    path: "/system/audit",
    needs: "System:Audit",
    about: "Reads who changed what, and who was refused what, one JSON object per line, oldest first.",
    details:
      "Refusals of callers without valid credentials are one record per action and address within a minute, with their number. With follow=true it continues until the client leaves or the sender's token expired five minutes ago; after 15 s without a record an empty line is sent. To go on where a stream was cut, ask since a minute before the last record and leave out the ids that were read.",
    query: AuditParameters,
    responses: [{ status: 200, about: "The records", schema: AuditRecord, type: "application/x-ndjson" }],
    errors: ["validation_failed", "log_query_invalid", "too_many_streams", "queue_unavailable", "not_built"],
    head: false,
    trial: { commands: 'curl -u admin:$P "$G/system/audit?action=Function:*"', shows: "…" },
  },
  ({ audit, logStreams, errors }) =>
    async ({ query, principal, request, reply }) => {
      const asked = parseAuditQuery(query);
      if (audit === undefined) throw new PlatformError("not_built", "Cannot read the audit: this gateway keeps none");
      using stream = logStreams.begin();
      const records = await audit.read(asked, stream.signal);
      await sendRecords(stream, { request, reply, principal, errors }, () => records);
    },
);

function parseAuditQuery(query: {
  readonly since?: string;
  readonly subject?: string;
  readonly action?: string;
  readonly allowed?: string;
  readonly follow?: string;
}): AuditQuery {
  const { since, follow } = parseLogQuery(query);
  return { since, follow, subject: given(query.subject), action: given(query.action), allowed: parseAllowed(query) };
}

function parseAllowed({ allowed: text = "" }: { readonly allowed?: string }): boolean | undefined {
  if (text === "") return undefined;
  const allowed = parseBoolean(text);
  if (allowed !== undefined) return allowed;
  throw new PlatformError("validation_failed", `Cannot read allowed ${quote(text)}: expected true or false`);
}

/** An empty parameter counts as absent. */
function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
