import { publicly, type PublicSentence } from "../../api/public-sentence.ts";
import { brokenRule } from "../../core/calls/malformed-reply.ts";
import type { UpstreamListener } from "../../core/ports/upstream.ts";
import { UnsendableRequest } from "../../http1/client/request-head.ts";
import { UnsendableHeader } from "../../http1/write-headers.ts";

/** What the caller of a process is told that gave no whole reply. */
export interface ReplyFault {
  readonly status: number;
  readonly sentence: PublicSentence;
}

/** Says which of these it was: the process was not reached, broke the connection, or sent what is no reply. */
export function replyFault(kind: Parameters<UpstreamListener["onError"]>[0], err: Error): ReplyFault {
  if (err instanceof UnsendableRequest || err instanceof UnsendableHeader)
    return { status: 400, sentence: publicly`Cannot pass the request on: HTTP/1.1 has no form for it` };
  switch (kind) {
    case "refused":
      return { status: 502, sentence: publicly`Cannot call the function's process: it accepts no connection` };
    case "reset":
      return {
        status: 502,
        sentence: publicly`Cannot complete the call: the function's process closed the connection before its reply`,
      };
    case "malformed":
      return { status: 502, sentence: publicly`Cannot call the function's process: ${brokenRule(err)}` };
    default:
      return kind satisfies never;
  }
}
