import Type, { type Static } from "typebox";

import { time } from "./name-schemas.ts";
import { openEnum } from "./open-enum.ts";

const sentence = (description: string, example: string) =>
  Type.String({ minLength: 1, description, examples: [example] });
const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [1] });

/** How bad a finding is, from the best. */
export const findingLevels = ["ok", "warning", "problem"] as const;

const found = {
  id: "timeouts",
  level: "problem",
  subject: 'function "hello.functions"',
  sentence: "exec_timeout 5s ends every call after 6s, before com.service.timeout 20s: exec_timeout 5s (smallest) < …",
  advice: "set exec_timeout to 19s, or com.service.timeout to 6s",
};

/** One result of the doctor's checks. */
export const Finding = Type.Object(
  {
    id: Type.String({
      pattern: "^[a-z][a-z-]*$",
      description: "The check; with subject it identifies the finding",
      examples: [found.id],
    }),
    level: openEnum(findingLevels, "A problem has to be acted on; a warning may become one"),
    subject: sentence("What was checked", found.subject),
    sentence: sentence("What was found", found.sentence),
    advice: Type.Optional(
      sentence("What to do about it, an imperative; absent when there is nothing to do", found.advice),
    ),
  },
  { title: "Finding", description: "One result of the doctor's checks", examples: [found] },
);
export type Finding = Readonly<Static<typeof Finding>>;

const gateway = { part: "gateway", node: "weir-1", release: "0.1.0", replicas: 1, ready: 1 };

/** One part of the platform. */
export const PlatformPart = Type.Object(
  {
    part: sentence("Its name", gateway.part),
    node: Type.Optional(sentence("Machine or pod that it runs on, if known", gateway.node)),
    release: Type.Optional(sentence("Its version, if known", gateway.release)),
    replicas: count("Processes of it that there should be"),
    ready: count("Of them, those that work"),
  },
  { title: "PlatformPart", description: "One part of the platform", examples: [gateway] },
);
export type PlatformPart = Readonly<Static<typeof PlatformPart>>;

/** `/system/doctor`. */
export const DoctorReport = Type.Object(
  {
    checkedAt: time("When the checks were made; they are made at most every 10 s"),
    parts: Type.Array(PlatformPart, { description: "The parts that this gateway knows of" }),
    findings: Type.Array(Finding, { description: "At least one for each check, in the order of the checks" }),
  },
  {
    title: "DoctorReport",
    description: "What is wrong with this platform, as far as this gateway can know",
    examples: [{ checkedAt: "2026-01-31T12:00:00.000Z", parts: [gateway], findings: [found] }],
  },
);
export type DoctorReport = Readonly<Static<typeof DoctorReport>>;
