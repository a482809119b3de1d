import Type, { type Static } from "typebox";

import { callId } from "./name-schemas.ts";
import { openEnum } from "./open-enum.ts";
import { errorCodes } from "../platform-error.ts";

/** Body of an error for clients that list JSON in `Accept` (RFC 9457, contract §1.7). */
export const ProblemDetails = Type.Object(
  {
    type: Type.String({
      format: "uri",
      description: "urn:weir:error: and the code",
      examples: ["urn:weir:error:function_not_found"],
    }),
    title: Type.String({ description: "Name of the status", examples: ["Not Found"] }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: "The HTTP status", examples: [404] }),
    detail: Type.String({
      description: "One sentence for people: Cannot <do> <thing>: <state>",
      examples: ['Cannot find function "hello": it does not exist in namespace "functions"'],
    }),
    instance: Type.String({ description: "Path of the request", examples: ["/system/function/hello"] }),
    code: openEnum(errorCodes, "What went wrong, for programs"),
    callId: Type.Optional(callId("Id of the call, if there is one")),
  },
  {
    title: "ProblemDetails",
    description: "Why a request failed (RFC 9457)",
    examples: [
      {
        type: "urn:weir:error:function_not_found",
        title: "Not Found",
        status: 404,
        detail: 'Cannot find function "hello": it does not exist in namespace "functions"',
        instance: "/system/function/hello",
        code: "function_not_found",
      },
    ],
  },
);
export type ProblemDetails = Readonly<Static<typeof ProblemDetails>>;
