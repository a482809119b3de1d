import Type, { type Static } from "typebox";

import { errorCodes } from "../../platform-error.ts";
import { time } from "../name-schemas.ts";
import { openEnum } from "../open-enum.ts";

/** Why a stream ends. slow: more than 1 MiB was not read; session: its sender may not go on; draining: the gateway stops. */
export const watchEnds = ["slow", "session", "draining"] as const;
export type WatchByeReason = (typeof watchEnds)[number];

/** Event `hello`: the first one. */
export const WatchHello = Type.Object(
  {
    release: Type.String({ description: "Version of the gateway", examples: ["0.1.0"] }),
    apiVersion: Type.String({ description: "Version of its API", examples: ["1.0"] }),
    time: time("Time of the gateway"),
  },
  {
    title: "WatchHello",
    description: "First event of a stream",
    examples: [{ release: "0.1.0", apiVersion: "1.0", time: "2026-01-31T12:00:00.000Z" }],
  },
);
export type WatchHello = Readonly<Static<typeof WatchHello>>;

/** Event `bye`: the last one, where the end is known before. */
export const WatchBye = Type.Object(
  { reason: openEnum(watchEnds, "Why it ends: slow = the client read too slowly; session = sign in again; draining") },
  { title: "WatchBye", description: "Last event of a stream", examples: [{ reason: "draining" }] },
);
export type WatchBye = Readonly<Static<typeof WatchBye>>;

/** Fields that events of several topics have. */
export const watchFields = {
  on: Type.String({ description: "The topic, as the request named it", examples: ["queues"] }),
  begin: Type.Boolean({
    description: "Whether the topic begins, so that what was known of it no longer counts",
    examples: [true],
  }),
  skipped: Type.Integer({
    minimum: 0,
    description: "How many were left out since the previous event, as they came too fast",
    examples: [0],
  }),
};

/** Event `fault`: a topic cannot be shown for now; its next event ends that. */
export const WatchFault = Type.Object(
  {
    on: watchFields.on,
    code: openEnum(errorCodes, "Why, for programs"),
    detail: Type.String({
      description: "Why, in one sentence",
      examples: ["Cannot list calls: the history does not reply"],
    }),
  },
  {
    title: "WatchFault",
    description: "A topic cannot be shown now; its next event ends that",
    examples: [{ on: "calls", code: "history_unavailable", detail: "Cannot list calls: the history does not reply" }],
  },
);
export type WatchFault = Readonly<Static<typeof WatchFault>>;
