import { duration } from "../api/setting.ts";

/** Settings of the single-host provider. */
export const providerSettings = {
  upstreamTimeout: duration("upstream_timeout", {
    fallback: "30s",
    about: "Longest a synchronous call may take; stopping replicas get as long to finish theirs",
  }),
};
