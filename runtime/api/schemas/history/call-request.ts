import Type, { type Static } from "typebox";

const headerPairs = (description: string) =>
  Type.Array(Type.String(), { description, examples: [["content-type", "application/json"]] });

/** The request of a call that was kept. */
export const CallRequest = Type.Object(
  {
    method: Type.String({ description: "Its method", examples: ["POST"] }),
    path: Type.String({ description: "Path after the function's name", examples: ["/orders"] }),
    query: Type.Optional(Type.String({ description: "Query, without `?`", examples: ["page=2"] })),
    headers: headerPairs("Names and values in turn, in the order of the request"),
    body: Type.String({ contentEncoding: "base64", description: "Its body as base64", examples: ["aGVsbG8="] }),
    redacted: Type.Array(Type.String(), {
      description: "Headers that were not kept; a replay has to send them, where they are needed",
      examples: [["authorization"]],
    }),
  },
  {
    title: "CallRequest",
    description: "The request of a call",
    examples: [
      {
        method: "POST",
        path: "/orders",
        headers: ["content-type", "application/json"],
        body: "e30=",
        redacted: ["authorization"],
      },
    ],
  },
);
export type CallRequest = Readonly<Static<typeof CallRequest>>;

/** How a call is replayed. */
export const ReplayRequest = Type.Object(
  {
    callback: Type.Optional(
      Type.Boolean({ default: false, description: "Whether its callback is sent again", examples: [false] }),
    ),
    headers: Type.Optional(
      headerPairs("Names and values in turn; they replace those of the same names, and add those that were not kept"),
    ),
    body: Type.Optional(
      Type.String({
        contentEncoding: "base64",
        pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        description: "Another body, as base64",
        examples: ["aGVsbG8="],
      }),
    ),
  },
  {
    title: "ReplayRequest",
    description: "How a call is replayed: as a new call of the function as it is now",
    additionalProperties: false,
    examples: [{ callback: false, headers: ["authorization", "Bearer …"] }],
  },
);
export type ReplayRequest = Readonly<Static<typeof ReplayRequest>>;
