import { decidedSettings } from "../../infra/manifests/processes/environment.ts";
import { generalOptions } from "../../infra/manifests/platform-options.ts";
import type { Setting } from "../../runtime/settings/setting.ts";
import { queueEntryFields } from "../../runtime/queue-doctor/queue-fact-settings.ts";
import { functionSettings } from "../../runtime/watchdog/settings.ts";
import { exampleFile } from "./example-file.ts";
import { processes } from "./processes.ts";
import { code, defaultOf, kindOf, table } from "./setting-cells.ts";
import { stackSection } from "./stack-section.ts";

const introduction = `# Settings

Written by \`npm run settings-doc\` from \`runtime/*/settings.ts\`; change it there.

Every setting has one name in snake_case, which is its environment variable and its key in the settings file; the flag is the
same in kebab-case; the key of a Pulumi stack is the same in camelCase under \`weir:\`, here \`weir:upstreamTimeout\`. On one machine
\`upstream_timeout\` may be set in three ways:

\`\`\`sh
npm start -- --upstream-timeout 60s
upstream_timeout=60s npm start
echo 'upstream_timeout: 60s' > weir.yaml && npm start -- --config weir.yaml
\`\`\`

The first of these that is set applies: flag, environment, settings file, default. \`config\` may also be in the environment.

- A duration is \`1m30s\`, \`500ms\`, or whole seconds: \`90\`.
- A boolean is \`true\`, \`t\`, \`1\`, \`yes\` or \`false\`, \`f\`, \`0\`, \`no\`, in any case; a flag without a value is \`true\`.
- A list is separated by commas; in the file it may be a YAML list.
- A setting without a default must be set; one whose default is "–" may be left out.
- On Kubernetes the platform decides settings marked †: a stack has no such key.

## Mistakes

A process with invalid settings reports all problems in one message, each with its value, and exits with code 1:

\`\`\`sh
npm start -- --port x --max-inflght 2 --ack-wait 10ms
\`\`\`

\`\`\`text
Cannot start:
  --max-inflght: no such flag; did you mean --max-inflight?
  port: expected a whole number, 0 to 65535, got "x" (flag --port)
  ack_wait: expected a duration from 1s to 1h, got "10ms" (flag --ack-wait)
\`\`\`

Unknown flags and unknown keys of the file are errors. An environment variable is never an error; one that is
almost the name of a setting, such as \`MAX_INFLIGHT\`, \`WEIR_PORT\` or \`upstream_timeot\`, gives a warning and is not read. Values of unknown
names are never shown.

The processes of one platform may share one settings file: each reads its own keys, and only keys that none of them has are errors.
\`npm start\` refuses those that it decides itself, such as \`nats_url\`.

## A settings file

\`\`\`yaml
${exampleFile}\`\`\`

\`queues\` can only be in the file. The queue \`default\` always exists; others need edition enterprise. What an entry leaves out comes
from the setting of that name, here \`max_inflight: 4\`. A queue that is no longer declared accepts no
new calls; those it holds stay until it is declared again. What a queue is for and how to size it: [calls and queues](../calls-and-queues.md).

`;

const derived = `
## Derived values

Times that must agree are derived and cannot be set:

| What | Derived from |
|---|---|
| a synchronous call until the head of its reply | \`com.service.timeout\` of the function, else \`upstream_timeout\`; or its \`exec_timeout\` + 1 s if less |
| longest queued run | the longer of \`timeout\` of its queue (else \`upstream_timeout\`) and \`com.service.timeout\` of the function; or its \`exec_timeout\` + 1 s if less |
| whether a deployment is accepted | \`com.service.timeout\` is at most \`timeout_max\`, and \`exec_timeout\` not above both limits of the two previous rows, else 400 |
| time a stopping replica gets | the longest call or run of the function + 1 s; the watchdog's \`write_timeout\` is the same |
| idle timeout of an Ingress of class nginx | the longest of \`wake_timeout\` + \`timeout_max\`, \`stream_idle_timeout\` and \`websocket_idle_timeout\`, and 5 s |
| how long a stop waits for calls in flight | \`drain_timeout\`; absent: the longer of 30 s and \`upstream_timeout\`, at most \`timeout_max\` |
| time a stopping gateway gets | \`shutdown_delay\`, that, and 5 s; its pod 5 s more |
| time a stopping queue-worker gets | that and 10 s; its pod 5 s more |
| time one machine gets to stop | both of these, and 15 s |
| heartbeat of a run | \`ack_wait\` ÷ 3; a call whose worker is silent is taken over after 0.95 × \`ack_wait\` |
| \`ack_wait\` of callbacks | that of queue \`default\` |
| record of a call in flight | \`call_max_age\` + 1 day |
| record of an ended call | the longer of \`call_record_ttl\` and \`result.ttl\`, never below 2 min and 2 × \`ack_wait\` + 10 s |
| head of the reply to a callback | \`callback_timeout\` ÷ 3 |
| largest message of the broker | \`async_max_body\` + 256 KiB |
| largest output that is kept | \`async_max_body\` |
| lease of the queue-doctor | the longer of \`lease_ttl\` and 2 × \`doctor_period\` |
| slots of a queue on one machine | \`queue_workers\` × \`max_inflight\`, or \`replicas\` × \`max_inflight\` of its entry |
`;

const settingsIntroduction = `
## Settings of the platform

The processes that read a setting; "all" means these:

`;

const functionIntroduction = `
## Function

The settings of the watchdog in a function. They are set in \`envVars\` of the deployment, or in the environment of the image; \`envProcess\` is \`fprocess\`. It has
no settings file and no stack key. The provider sets address, port and \`write_timeout\`.

`;

/** The text of `docs/reference/settings.md`, not formatted yet. */
export function settingsPage(): string {
  return [
    introduction,
    table(queueFieldRows(), ["Key of an entry", "Kind", "Default", "Meaning"]),
    derived,
    settingsSection(),
    stackSection(),
    functionIntroduction,
    table(
      Object.values(functionSettings).map((setting) => [
        code(setting.name),
        kindOf(setting),
        defaultOf(setting),
        setting.about,
      ]),
      ["Name", "Kind", "Default", "Meaning"],
    ),
  ].join("");
}

/** One row per setting, and the rules, each of them once. */
function settingsSection(): string {
  const readers = processes.map(({ name, about }) => `- ${name}: ${about}`).join("\n");
  const columns = ["Name", "Read by", "Kind", "Default", "Meaning"];
  const rules = [...new Set(processes.flatMap((process) => process.rules.map(({ sentence }) => `- ${sentence}`)))];
  return `${settingsIntroduction}${readers}\n\n${table(settingRows(), columns)}\nThese rules apply across settings:\n\n${rules.join("\n")}\n`;
}

/** Whether the platform decides the setting on Kubernetes, so that a stack cannot set it. */
function isDecided(key: string): boolean {
  return (decidedSettings as readonly string[]).includes(key) && !Object.hasOwn(generalOptions, key);
}

interface Reading {
  readonly process: string;
  readonly key: string;
  readonly setting: Setting<unknown>;
}

/** A row for each setting; if processes accept different values by the same name, one for each kind. */
function settingRows(): string[][] {
  const readings: Reading[] = processes.flatMap(({ name, settings }) =>
    Object.entries(settings).map(([key, setting]) => ({ process: name, key, setting })),
  );
  const rows = Map.groupBy(readings, ({ setting }) => `${setting.name} ${kindOf(setting)}`);
  return [...rows.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { key, setting } = first;
    const mark = isDecided(key) && same.some(({ process }) => process !== "one machine") ? " †" : "";
    return [[code(setting.name) + mark, readersOf(same), kindOf(setting), defaultsOf(same), setting.about]];
  });
}

function readersOf(readings: readonly Reading[]): string {
  return readings.length === processes.length ? "all" : readings.map(({ process }) => process).join(", ");
}

/** The default, or each default with its processes. */
function defaultsOf(readings: readonly Reading[]): string {
  const defaults = Map.groupBy(readings, ({ setting }) => defaultOf(setting));
  if (defaults.size === 1) return [...defaults.keys()].join("");
  return [...defaults].map(([value, having]) => `${value} (${readersOf(having)})`).join(", ");
}

/** Where the value of a field comes from when its entry does not set it. */
const fieldDefaults: Readonly<Record<string, string>> = {
  replicas: "`queue_workers`",
  max_inflight: "`max_inflight`",
  timeout: "`upstream_timeout`",
  ack_wait: "`ack_wait`",
  max_length: "`max_length`",
  "retry.attempts": "`retry_attempts`",
  "retry.min_wait": "`retry_min_wait`",
  "retry.max_wait": "`retry_max_wait`",
};

function queueFieldRows(): string[][] {
  return Object.values(queueEntryFields).map((field) => [
    code(field.name),
    kindOf(field),
    fieldDefaults[field.name] ?? defaultOf(field),
    field.about,
  ]);
}
