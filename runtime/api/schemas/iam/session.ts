import Type, { type Static } from "typebox";

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
