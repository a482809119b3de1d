import Type from "typebox";

import { namePattern } from "../../../api/grammar.ts";
import { header } from "../../../api/names.ts";
import type { ErrorCode } from "../../../api/platform-error.ts";
import { QueryParameters } from "../../../api/schemas/query-parameters.ts";
import { asyncFunctionPrefix, functionPrefix } from "../../calls/split-target.ts";
import { callRoute, type RouteMethod } from "../route.ts";
import { storedCallReply } from "./stored-call-reply.ts";

const label = namePattern.function.slice(1, -1);
const called = Type.String({
  pattern: `^${label}(?:\\.${label})?$`,
  maxLength: 127,
  description: "Name of the function; a namespace other than the default one follows after a dot",
  examples: ["echo"],
});
const rest = Type.String({
  description: "Path for the function, byte for byte. Slashes must arrive as they are, not as %2F",
  examples: ["a/b"],
});
const CallQuery = Type.Object({ query: Type.Optional(QueryParameters) });

/** Path parameters of a synchronous call. */
const Called = Type.Object({ name: called });
const CalledAt = Type.Object({ name: called, path: rest });
/** Path parameters of an asynchronous call; in the routes of call records `target` is the id of a call. */
const Queued = Type.Object({ target: called });
const QueuedAt = Type.Object({ target: called, path: rest });

const sentId = Type.Optional(
  Type.String({
    description: "Id of the call, if it is a UUID; otherwise one is generated",
    examples: ["7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10"],
  }),
);
const SyncHeaders = Type.Object({ [header.callId]: sentId });
const AsyncHeaders = Type.Object({
  [header.callId]: sentId,
  [header.callbackUrl]: Type.Optional(
    Type.String({
      format: "uri",
      maxLength: 2_048,
      pattern: "^https?://",
      description: "Where the function's output is sent by POST when the call ends",
      examples: ["https://example.com/done"],
    }),
  ),
});

const anything = Type.String({ format: "binary" });
const credentialErrors = ["credentials_required", "credentials_invalid", "forbidden"] as const;
const syncErrors: readonly ErrorCode[] = [
  ...credentialErrors,
  "function_not_found",
  "too_many_calls",
  "function_unreachable",
  "bad_function_reply",
  "no_ready_replica",
  "function_timeout",
  "not_built",
];

/** Methods that call a function besides POST, which stands for all of them in the document. */
const otherMethods: readonly RouteMethod[] = ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const syncRoutes = [Called, CalledAt].map((params) => {
  const atPath = params === CalledAt;
  return callRoute({
    id: atPath ? "callFunctionAtPath" : "callFunction",
    group: "calls",
    method: "POST",
    alike: otherMethods,
    path: `${functionPrefix}:name${atPath ? "/*" : ""}`,
    needs: "nothing",
    about: atPath
      ? "Calls a function with a path, which it receives byte for byte, and returns its reply."
      : "Calls a function and returns its reply.",
    details: `Path, query, headers and body go to the function, its status, headers and body come back, both streamed. ${otherMethods.join(", ")} do the same as POST. A function may ask for credentials.`,
    params,
    query: CallQuery,
    headers: SyncHeaders,
    body: anything,
    bodyOptional: true,
    bodyType: "application/octet-stream",
    responses: [
      {
        status: "default",
        about: "The function's reply, with any status",
        schema: anything,
        type: "*/*",
        headers: {
          [header.callId]: "Id of the call",
          [header.startTime]: "When it arrived, Unix nanoseconds",
          [header.durationSeconds]: "Time to the head of the function's reply",
        },
      },
    ],
    errors: syncErrors,
    trial: atPath
      ? { commands: 'curl "$G/function/echo/a%2Fb?x=1" -d hi', shows: "hi" }
      : { commands: "curl $G/function/echo -d hi", shows: "hi" },
  });
});

const queueRoutes = [Queued, QueuedAt].map((params) => {
  const atPath = params === QueuedAt;
  return callRoute({
    id: atPath ? "queueCallAtPath" : "queueCall",
    group: "asynchronous calls",
    method: "POST",
    path: `${asyncFunctionPrefix}:target${atPath ? "/*" : ""}`,
    needs: "nothing",
    about: atPath
      ? "Queues a call with a path."
      : "Queues a call; a call that was accepted with 202 is stored and runs at least once.",
    params,
    query: CallQuery,
    headers: AsyncHeaders,
    body: anything,
    bodyOptional: true,
    bodyType: "application/octet-stream",
    responses: [storedCallReply("The call is stored", "Id of the call, the one to use")],
    errors: [
      ...credentialErrors,
      "invalid_callback_url",
      "function_not_found",
      "edition_limit",
      "queue_not_found",
      "payload_too_large",
      "queue_full",
      "store_full",
      "queue_unavailable",
    ],
    trial: atPath
      ? { commands: 'curl -i "$G/async-function/echo/a%2Fb?x=1" -d hi', shows: "HTTP/1.1 202 Accepted\n…" }
      : {
          commands: "ID=$(curl -si $G/async-function/echo -d hi | tr -d '\\r' | sed -n 's/^X-Call-Id: //p'); echo $ID",
          shows: "<id>",
        },
  });
});

/** Calls of functions, synchronous (contract §4.1) and queued (§4.2); served by their own router. */
export const callRoutes = [...syncRoutes, ...queueRoutes];
