import Type, { type Static } from "typebox";

import { callId, time } from "../name-schemas.ts";
import { openEnum } from "../open-enum.ts";

/** A statement by the names that lead to it. */
export const AuditStatement = Type.Object(
  {
    role: Type.String({
      description: "Name of the Role; administrator for the administrator",
      examples: ["deployers"],
    }),
    policy: Type.String({ description: "Name of the Policy", examples: ["deploy"] }),
    sid: Type.String({ description: "The statement's id within the Policy", examples: ["1"] }),
  },
  {
    title: "AuditStatement",
    description: "A statement of a Policy",
    examples: [{ role: "deployers", policy: "deploy", sid: "1" }],
  },
);
export type AuditStatement = Readonly<Static<typeof AuditStatement>>;

/** One change, or one refusal, as it is kept (`iam.md` §7): no body, token or value of anything. */
export const AuditRecord = Type.Object(
  {
    id: Type.String({
      format: "uuid",
      description: "Id of this record; the log line of the same event has it, too",
      examples: ["0b7c9a50-3f0e-4d42-9c1c-0a5a5de0d9a1"],
    }),
    time: time("When it was decided"),
    subject: Type.Optional(
      Type.String({ description: "Who; absent when the caller did not identify itself", examples: ["fed:alice"] }),
    ),
    name: Type.Optional(
      Type.String({
        description: "What people call the subject, where its issuer says; people may choose it themselves",
        examples: ["alice@example.com"],
      }),
    ),
    issuer: Type.Optional(
      Type.String({
        description: "The issuer that knows the subject; absent for the administrator",
        examples: ["https://issuer.example"],
      }),
    ),
    via: Type.Optional(
      openEnum(["basic", "token", "session", "open"], "How the caller identified itself; open: nobody has to"),
    ),
    action: Type.String({ description: "What was asked for, `Kind:Verb`", examples: ["Function:Delete"] }),
    resource: Type.Optional(
      Type.String({
        description: "What it was asked of, in real names; absent when it was refused before that was read",
        examples: ["dev:pay"],
      }),
    ),
    allowed: Type.Boolean({ description: "Whether it was allowed; a refusal was not", examples: [true] }),
    by: Type.Optional(AuditStatement),
    reported: Type.Optional(AuditStatement),
    status: Type.Integer({ minimum: 100, maximum: 599, description: "Status of the response", examples: [202] }),
    code: Type.Optional(Type.String({ description: "Code of the error, if it was one", examples: ["forbidden"] })),
    address: Type.String({
      description: "Address of the client, seen through trusted proxies",
      examples: ["10.0.0.7"],
    }),
    callId: Type.Optional(callId("Id of the call, if it was one")),
    requestId: Type.Optional(Type.String({ description: "Id of the request", examples: ["req-1"] })),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "Refusals of the same action and address within a minute that this record stands for, the last of which it shows",
        examples: [20],
      }),
    ),
  },
  {
    title: "AuditRecord",
    description:
      "One change, or one refusal; `by` is the statement that allowed it, `reported` the one of a role in mode report that would have",
    examples: [
      {
        id: "0b7c9a50-3f0e-4d42-9c1c-0a5a5de0d9a1",
        time: "2026-01-31T12:00:00.000Z",
        subject: "fed:alice",
        name: "alice@example.com",
        issuer: "https://issuer.example",
        via: "token",
        action: "Function:Delete",
        resource: "dev:pay",
        allowed: true,
        by: { role: "deployers", policy: "deploy", sid: "1" },
        status: 202,
        address: "10.0.0.7",
        requestId: "req-1",
      },
    ],
  },
);
export type AuditRecord = Readonly<Static<typeof AuditRecord>>;
