import type { ComponentChildren } from "preact";

import type { AuditRecord } from "../../../api/schemas/iam/audit.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { Dialog } from "../../parts/forms/dialog.tsx";
import { Facts } from "../../parts/texts/sentence.tsx";
import { Code } from "../../parts/texts/shown.tsx";
import { ExactTime } from "../../parts/texts/time.tsx";

/** Everything that one record says. */
export function AuditDetail({ record, onClose }: { readonly record: AuditRecord; readonly onClose: () => void }) {
  const {
    time,
    subject,
    name,
    issuer,
    via,
    action,
    resource,
    allowed,
    by,
    reported,
    status,
    code,
    address,
    callId,
    requestId,
    count,
    id,
  } = record;
  const statement = (one: NonNullable<AuditRecord["by"]>): string =>
    `Role "${one.role}", Policy "${one.policy}", statement "${one.sid}"`;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ["When", <ExactTime key="time" at={time} />],
    ["Who", subject === undefined ? "did not identify themselves" : <Code key="subject" text={subject} />],
    ...(name === undefined ? [] : [["Name", <Code key="name" text={name} />] as const]),
    ...(issuer === undefined ? [] : [["Issuer", <Code key="issuer" text={issuer} />] as const]),
    ...(via === undefined ? [] : [["Known by", via] as const]),
    ["Action", <Code key="action" text={action} />],
    ...(resource === undefined ? [] : [["Resource", <Code key="resource" text={resource} />] as const]),
    ["Outcome", `${allowed ? "allowed" : "refused"}, status ${status}${code === undefined ? "" : `, ${code}`}`],
    ...(by === undefined ? [] : [["Allowed by", <Code key="by" text={statement(by)} />] as const]),
    ...(reported === undefined
      ? []
      : [["Would be allowed by", <Code key="reported" text={statement(reported)} />] as const]),
    ...(count === undefined || count === 1 ? [] : [["Stands for", `${count} refusals within a minute`] as const]),
    ["From", <Code key="address" text={address} />],
    ...(callId === undefined
      ? []
      : [
          [
            "Call",
            <a key="call" href={pageLink.call(callId)}>
              <Code text={callId} />
            </a>,
          ] as const,
        ]),
    ...(requestId === undefined ? [] : [["Request", <Code key="request" text={requestId} />] as const]),
    ["Record", <Code key="id" text={id} />],
  ];
  return (
    <Dialog title={action} onClose={onClose}>
      <Facts rows={rows} />
    </Dialog>
  );
}
