import { STATUS_CODES } from "node:http";

import type { ErrorCode } from "../../api/platform-error.ts";

/** The content of an error reply's body (contract §1.7). */
export interface ErrorFacts {
  readonly code: ErrorCode;
  readonly status: number;
  readonly sentence: string;
  /** Path of the request, without query. */
  readonly instance: string;
  readonly callId: string | undefined;
}

/** The text for missing and wrong credentials alike, without a newline. */
const credentialsText = "invalid credentials";

/** Type and body of an error reply: problem+json if `accept` lists JSON, else text; both are one line. */
export function errorText(
  facts: ErrorFacts,
  accept: string | undefined,
): { readonly type: string; readonly body: string } {
  if (!listsJson(accept)) {
    return { type: "text/plain; charset=utf-8", body: facts.status === 401 ? credentialsText : `${facts.sentence}\n` };
  }
  const body = {
    type: `urn:weir:error:${facts.code}`,
    title: STATUS_CODES[facts.status] ?? "Error",
    status: facts.status,
    detail: facts.sentence,
    instance: facts.instance,
    code: facts.code,
    ...(facts.callId === undefined ? {} : { callId: facts.callId }),
  };
  return { type: "application/problem+json", body: `${JSON.stringify(body)}\n` };
}

function listsJson(accept: string | undefined): boolean {
  return (accept ?? "")
    .toLowerCase()
    .split(",")
    .some((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
      const isJson = type === "application/json" || type === "application/problem+json";
      return isJson && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
}
