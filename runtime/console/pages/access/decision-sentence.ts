import type { SimulateReply } from "../../../api/schemas/iam/access.ts";

/** By what a decision was made, in one sentence. */
export function decisionSentence({ allowed, role, policy, sid, missing, reportedBy }: SimulateReply): string {
  if (allowed) {
    if (policy === undefined)
      return role === "administrator" ? "The administrator may do everything" : `By Role "${role}"`;
    return `Role "${role}" gives Policy "${policy}", whose statement "${sid}" allows it`;
  }
  const needed =
    missing === undefined
      ? "No Role gives a Policy that allows it"
      : `No Role gives a Policy that allows ${missing.action} on ${missing.resource}`;
  return reportedBy === undefined ? needed : `${needed}; Role "${reportedBy}", which is in mode report, would have`;
}
