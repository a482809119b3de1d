import Type, { type Static } from "typebox";

import { time } from "../name-schemas.ts";
import { openEnum } from "../open-enum.ts";

/** The administrator's credentials, for a session. */
export const NewSession = Type.Object(
  {
    user: Type.String({ maxLength: 1_024, description: "Name of the administrator", examples: ["admin"] }),
    password: Type.String({ maxLength: 4_096, description: "The password", examples: ["a password"] }),
  },
  { description: "The administrator's credentials" },
);
export type NewSession = Static<typeof NewSession>;

/** Who is signed in. */
export const SessionInfo = Type.Object(
  {
    user: Type.String({ description: "`admin`, or `fed:` and the subject at its issuer", examples: ["admin"] }),
    name: Type.Optional(
      Type.String({ description: "What people call them, where the issuer says", examples: ["alice@example.com"] }),
    ),
    via: Type.String({
      description:
        "How: `basic` with the administrator's credentials, `issuer` at an issuer; `token` and `open` for a request without a session",
      examples: ["basic"],
    }),
    expiresAt: Type.Optional(Type.String({ format: "date-time", description: "When the session ends" })),
    actions: Type.Array(Type.String(), {
      description: "Actions that are allowed on anything at all",
      examples: [["Function:List"]],
    }),
    gateway: Type.String({
      description: "Address of the gateway, where functions are called; without a slash at its end",
      examples: ["https://faas.example.com"],
    }),
  },
  { description: "Who is signed in" },
);
export type SessionInfo = Static<typeof SessionInfo>;

/** An issuer that people sign in at with a browser. */
export const ConsoleIssuer = Type.Object(
  {
    name: Type.String({ description: "Name of the JwtIssuer, for `/auth/login?issuer=`", examples: ["staff"] }),
    issuer: Type.String({ description: "Its address", examples: ["https://id.example.com"] }),
  },
  { description: "An issuer that people sign in at with a browser" },
);
export type ConsoleIssuer = Static<typeof ConsoleIssuer>;

const id = Type.String({
  description: "Id by which it can be ended; of no use to sign in",
  maxLength: 64,
  examples: ["Wm8fQ2xk0c3dTqZp"],
});
const subject = Type.String({
  description: "`admin`, or `fed:` and the subject at its issuer",
  maxLength: 2_048,
  examples: ["fed:alice"],
});
const issuer = Type.String({
  description: "The issuer that knows the subject",
  maxLength: 2_048,
  examples: ["https://issuer.example"],
});

/** Somebody who is signed in with a browser. */
export const OpenSession = Type.Object(
  {
    id,
    subject,
    name: Type.Optional(
      Type.String({
        description: "What people call the subject, where its issuer says",
        examples: ["alice@example.com"],
      }),
    ),
    issuer: Type.Optional(issuer),
    via: openEnum(["basic", "issuer"], "How: with the administrator's password, or at an issuer"),
    openedAt: Type.Optional(time("When the session was opened")),
    expiresAt: time("When it ends at the latest"),
  },
  {
    title: "OpenSession",
    description: "Somebody who is signed in with a browser",
    examples: [
      {
        id: "Wm8fQ2xk0c3dTqZp",
        subject: "fed:alice",
        name: "alice@example.com",
        issuer: "https://issuer.example",
        via: "issuer",
        openedAt: "2026-01-31T12:00:00.000Z",
        expiresAt: "2026-01-31T20:00:00.000Z",
      },
    ],
  },
);
export type OpenSession = Readonly<Static<typeof OpenSession>>;

/** Which sessions end. */
export const EndSessionsRequest = Type.Object(
  { id: Type.Optional(id), subject: Type.Optional(subject), issuer: Type.Optional(issuer) },
  {
    title: "EndSessionsRequest",
    description: "Which sessions end: one by its id, or all of a subject",
    examples: [{ subject: "fed:alice" }],
  },
);

/** Sessions that were ended. */
export const EndedSessions = Type.Object(
  { ended: Type.Array(OpenSession, { description: "The sessions; empty if there was none" }) },
  { title: "EndedSessions", description: "Sessions that were ended", examples: [{ ended: [] }] },
);
export type EndedSessions = Readonly<Static<typeof EndedSessions>>;
