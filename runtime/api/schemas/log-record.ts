import Type, { type Static } from "typebox";

import { functionName, namespaceName } from "./name-schemas.ts";

/** One line of a function's log (contract §2). */
export const LogRecord = Type.Object(
  {
    name: functionName("Name of the function"),
    namespace: namespaceName("Real name of its namespace"),
    instance: Type.String({ description: "The replica that wrote it", examples: ["hello-1-0"] }),
    timestamp: Type.String({
      format: "date-time",
      description: "When it was written, with nanoseconds",
      examples: ["2026-01-31T12:00:00.123456789Z"],
    }),
    text: Type.String({ description: "The line with its newline", examples: ["hello\n"] }),
  },
  {
    title: "LogRecord",
    description: "One line of a function's log",
    examples: [
      {
        name: "hello",
        namespace: "functions",
        instance: "hello-1-0",
        timestamp: "2026-01-31T12:00:00.123456789Z",
        text: "hello\n",
      },
    ],
  },
);
export type LogRecord = Readonly<Static<typeof LogRecord>>;
