import Type, { type Static } from "typebox";

/** One line of a function's log (contract §2). */
export const LogRecord = Type.Object({
  name: Type.String(),
  namespace: Type.String(),
  instance: Type.String({ description: "The replica" }),
  timestamp: Type.String({ description: "RFC 3339 with nanoseconds" }),
  text: Type.String({ description: "With its newline" }),
});
export type LogRecord = Readonly<Static<typeof LogRecord>>;
