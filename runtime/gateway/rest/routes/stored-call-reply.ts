import { header } from "../../../api/names.ts";

/** The reply that a call is stored; `about` and `id` say which call is meant. */
export function storedCallReply(about: string, id: string) {
  return {
    status: 202,
    about,
    headers: { [header.callId]: id, [header.startTime]: "When it was accepted, Unix nanoseconds" },
  } as const;
}
