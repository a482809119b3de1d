import Type, { type Static } from "typebox";

import { policyActions } from "../../resources/iam-resources.ts";
import { time } from "../name-schemas.ts";
import { openEnum } from "../open-enum.ts";

const text = (description: string, ...examples: readonly string[]) => Type.String({ description, examples });

/** Who sent a request. */
export const WhoAmI = Type.Object(
  {
    subject: text("`fed:` and the subject at its issuer; admin for the administrator", "fed:alice"),
    issuer: Type.Optional(
      text("The issuer that knows the subject; absent for the administrator", "https://issuer.example"),
    ),
    name: Type.Optional(text("What people call the subject, where its issuer says", "alice@example.com")),
    via: openEnum(["basic", "token", "session", "open"], "How it identified itself; open: nobody has to"),
    administrator: Type.Boolean({ description: "Whether it may do everything", examples: [false] }),
    policies: Type.Array(text("Name of a Policy", "deploy"), {
      description: "Policies of its token that the present Roles give, sorted; empty for the administrator",
    }),
    expiresAt: Type.Optional(time("When its token or session ends")),
  },
  {
    title: "WhoAmI",
    description: "Who sent the request, and by what it may do anything",
    examples: [
      {
        subject: "fed:alice",
        issuer: "https://issuer.example",
        name: "alice@example.com",
        via: "token",
        administrator: false,
        policies: ["deploy"],
        expiresAt: "2026-01-31T12:00:00.000Z",
      },
    ],
  },
);
export type WhoAmI = Readonly<Static<typeof WhoAmI>>;

const action = Type.Enum(
  policyActions.filter((name) => !name.includes("*")),
  { type: "string", description: "What would be done", examples: ["Function:Delete"] },
);
const resource = Type.String({
  pattern: "^(?:\\*|[-a-z0-9]{1,63}:(?:\\*|[-a-z0-9]{1,63}))$",
  description: "What it would be done to: `namespace:function`, `namespace:*` or `*`; an alias means its namespace",
  examples: ["dev:pay"],
});

/** Claims of a subject as its issuer writes them. */
export const SubjectClaims = Type.Record(Type.String(), Type.Unknown(), {
  title: "SubjectClaims",
  description: "Claims of a subject as its issuer writes them; all policies that the present Roles give count",
  examples: [{ iss: "https://issuer.example", sub: "alice" }],
});

/** A decision to be simulated. */
export const SimulateRequest = Type.Object(
  {
    claims: Type.Optional(SubjectClaims),
    token: Type.Optional(
      Type.String({
        maxLength: 16_384,
        description: "A token of this platform, decided on as if it had sent the request; absent with claims",
        examples: ["eyJhbGciOiJFUzI1NiJ9.e30.c2ln"],
      }),
    ),
    action,
    resource,
  },
  {
    title: "SimulateRequest",
    description: "Who would do what: claims or token; without either, the sender of the request itself",
    examples: [
      { claims: { iss: "https://issuer.example", sub: "alice" }, action: "Function:Delete", resource: "dev:pay" },
    ],
  },
);
export type SimulateRequest = Readonly<Static<typeof SimulateRequest>>;

/** What a policy would have to allow. */
export const MissingRight = Type.Object(
  { action: text("The action", "Function:Delete"), resource: text("The resource", "dev:pay") },
  {
    title: "MissingRight",
    description: "What a policy would have to allow",
    examples: [{ action: "Function:Delete", resource: "dev:pay" }],
  },
);

/** A simulated decision. */
export const SimulateReply = Type.Object(
  {
    allowed: Type.Boolean({ description: "Whether it would be allowed", examples: [true] }),
    role: Type.Optional(text("The Role that gives the policy; `administrator` for the administrator", "deployers")),
    policy: Type.Optional(text("The Policy that allows it", "deploy")),
    sid: Type.Optional(text("The statement of the Policy that allows it", "1")),
    missing: Type.Optional(MissingRight),
    reportedBy: Type.Optional(text("A Role in mode report that would have allowed it", "deployers-trial")),
  },
  {
    title: "SimulateReply",
    description: "The decision: the statement that allows it, or what is missing",
    examples: [{ allowed: true, role: "deployers", policy: "deploy", sid: "1" }],
  },
);
export type SimulateReply = Readonly<Static<typeof SimulateReply>>;
