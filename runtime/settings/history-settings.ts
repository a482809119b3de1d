import { longestKeptRequest } from "../api/schemas/key-rules.ts";
import { optionalUrl } from "./platform-settings.ts";
import { duration, flag, whole } from "./setting.ts";

/** Settings of the history of calls, each described once. */

const second = 1_000;
const day = 24 * 3_600 * second;

/** Whether there is a history of calls. */
export const historySwitch = {
  history: flag("history", { fallback: "true", about: "Whether the history of calls is kept" }),
};

/** Files of the history below `secret_mount_path`: the key that gateways send, and the address of its database. */
export const historyFile = { key: "history-key", database: "history-database" } as const;

/** Where gateways find it. */
export const historyAddressSettings = {
  historyUrl: optionalUrl("history_url", {
    about:
      "Address of the history process for a gateway in its own process, which sends the key in the file history-key of secret_mount_path; when absent, that gateway shows no history",
  }),
};

/** How long requests are kept for it whose functions do not say so themselves. */
export const historyBodySettings = {
  historyBodies: duration("history_bodies", {
    fallback: "0s",
    max: longestKeptRequest,
    about:
      "How long requests of ended queued calls are kept, to be shown and replayed, unless their function has annotation com.service.history.bodies; 0 = not at all",
  }),
};

/** Whether log lines are kept, and how many; the oldest ones are removed first. */
export const keptLogSettings = {
  keptLogs: flag("kept_logs", {
    fallback: "true",
    about: "Whether the history keeps the log lines of functions, also of replicas that ended",
  }),
  keptLogAge: duration("kept_log_age", {
    fallback: "72h",
    min: 60 * second,
    max: 366 * day,
    about: "Age at which kept log lines are removed",
  }),
  keptLogBytes: whole("kept_log_bytes", {
    fallback: "1073741824",
    min: 16_777_216,
    unit: "bytes",
    about: "Most bytes in use in the file of kept log lines; on disk it takes up to 5 % and 16 MiB more",
  }),
  keptLogFunctionBytes: whole("kept_log_function_bytes", {
    fallback: "67108864",
    min: 1_048_576,
    unit: "bytes",
    about: "Most bytes of kept log lines of one function",
  }),
};

/** How many logs are followed for that on Kubernetes. */
export const logFollowSettings = {
  logFollowMax: whole("log_follow_max", {
    fallback: "500",
    min: 1,
    max: 2_000,
    unit: "streams",
    about:
      "Most pods whose logs one process follows under log_provider kubernetes: those that started, or were called, last",
  }),
};

/** What is kept of the history of calls; the first limit that is reached removes the oldest ended calls. */
export const historyBoundSettings = {
  historyAge: duration("history_age", {
    fallback: "168h",
    min: 60 * second,
    max: 366 * day,
    about: "Age at which ended calls leave the history",
  }),
  historyCallsMax: whole("history_calls_max", {
    fallback: "2000000",
    min: 1_000,
    unit: "calls",
    about: "Most calls in the history; calls that have not ended count, but stay",
  }),
  historyBytes: whole("history_bytes", {
    fallback: "2147483648",
    min: 16_777_216,
    unit: "bytes",
    about:
      "Most bytes in use in the history's file, of which calls keep at least half before rollups; on disk it takes up to 5 % and 16 MiB more",
  }),
};
