import type { CallRequest } from "../../../api/schemas/history/call-request.ts";
import type { StoredRequest } from "../../ports/kept-requests.ts";

/** A kept request as clients see it. */
export function callRequestView({ call, redacted }: StoredRequest): CallRequest {
  const { method, path, query, headers, body } = call;
  return {
    method,
    path,
    ...(query === undefined ? {} : { query }),
    headers: [...headers],
    body: Buffer.from(body).toString("base64"),
    redacted: [...redacted],
  };
}
