import Type, { type Static } from "typebox";

import { callId, functionName, namespaceName } from "./name-schemas.ts";
import { openEnum } from "./open-enum.ts";

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
    stream: Type.Optional(
      openEnum(
        ["stdout", "stderr"],
        "Where it was written to; absent where the provider does not know, as on Kubernetes",
      ),
    ),
    call: Type.Optional(callId("The call during which it was written, if the function runs a process for each")),
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
        stream: "stdout",
      },
    ],
  },
);
export type LogRecord = Readonly<Static<typeof LogRecord>>;
/** Where a line was written to. */
export type OutputName = NonNullable<LogRecord["stream"]>;
