import Type from "typebox";

import { CallRecord } from "../../../api/schemas/call-record.ts";
import { callId } from "../../../api/schemas/name-schemas.ts";
import { header } from "../../../api/names.ts";
import type { ErrorCode } from "../../../api/platform-error.ts";
import { asyncFunctionPrefix } from "../../calls/split-target.ts";
import { callRoute } from "../route.ts";

const CallPath = Type.Object({ target: callId("Id of the call") });
const credentialErrors: readonly ErrorCode[] = [
  "credentials_required",
  "credentials_invalid",
  "forbidden",
  "queue_unavailable",
];
const shownId = { [header.callId]: "Id of the call" };

/** Queued calls: state, result, cancellation (contract §4.5); served by their own router. */
export const callRecordRoutes = [
  callRoute({
    id: "getCall",
    group: "asynchronous calls",
    method: "GET",
    path: `${asyncFunctionPrefix}:target`,
    needs: "nothing",
    about: "Shows the record of a queued call, at once or when it has ended.",
    params: CallPath,
    query: Type.Object({
      wait: Type.Optional(
        Type.String({
          pattern: "^(?:[0-9]{1,7}(?:ms|s)?|[0-9]{1,4}m(?:[0-9]{1,4}s)?|[0-9]{1,3}h)$",
          description: "Longest to wait for a final state, e.g. 30s; 60s at most",
          examples: ["30s"],
        }),
      ),
    }),
    responses: [{ status: 200, about: "The record", schema: CallRecord, headers: shownId }],
    errors: [...credentialErrors, "validation_failed", "call_not_found"],
    trial: { commands: 'curl "$G/async-function/$ID?wait=30s"', shows: '{"callId":"<id>",…"state":"done",…}' },
  }),
  callRoute({
    id: "getCallResult",
    group: "asynchronous calls",
    method: "GET",
    path: `${asyncFunctionPrefix}:target/result`,
    needs: "nothing",
    about: "Returns the output of a queued call.",
    params: CallPath,
    responses: [
      {
        status: 200,
        about: "The output, with its own Content-Type",
        schema: Type.String({ format: "binary" }),
        type: "*/*",
        headers: {
          ...shownId,
          [header.functionStatus]: "Status of the function's reply",
          [header.durationSeconds]: "How long its last run took",
        },
      },
    ],
    errors: [...credentialErrors, "call_not_found", "result_not_found", "call_not_finished"],
    trial: { commands: "curl $G/async-function/$ID/result", shows: "hi" },
  }),
  callRoute({
    id: "cancelCall",
    group: "asynchronous calls",
    method: "DELETE",
    path: `${asyncFunctionPrefix}:target`,
    needs: "nothing",
    about: "Cancels a queued call; no run of it starts afterwards.",
    params: CallPath,
    responses: [{ status: 202, about: "The call is cancelled", headers: shownId }],
    errors: [...credentialErrors, "call_not_found", "call_finished"],
    trial: {
      commands: "curl -X DELETE $G/async-function/$ID",
      shows: "Cannot cancel call …",
    },
  }),
  callRoute({
    id: "cancelCallOfFunction",
    group: "asynchronous calls",
    method: "DELETE",
    path: `${asyncFunctionPrefix}:target/*`,
    needs: "nothing",
    about: "Cancels a queued call if it is one of this function.",
    params: Type.Object({
      target: Type.String({
        maxLength: 127,
        description: "Name of the function; a namespace may follow after a dot",
        examples: ["echo"],
      }),
      path: callId("Id of the call"),
    }),
    responses: [{ status: 202, about: "The call is cancelled", headers: shownId }],
    errors: [...credentialErrors, "call_not_found", "call_finished"],
    trial: { commands: "curl -X DELETE $G/async-function/echo/$ID", shows: "Cannot cancel call …" },
  }),
];
