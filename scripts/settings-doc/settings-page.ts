import { decidedSettings } from "../../infra/manifests/processes/environment.ts";
import { generalOptions } from "../../infra/manifests/platform-options.ts";
import { flagName } from "../../runtime/settings/read-settings.ts";
import type { Settings } from "../../runtime/settings/setting.ts";
import { queueEntryFields } from "../../runtime/queue-doctor/queue-fact-settings.ts";
import { functionSettings } from "../../runtime/watchdog/settings.ts";
import { exampleFile } from "./example-file.ts";
import { processes, type DocumentedProcess } from "./processes.ts";
import { code, defaultOf, kindOf, table } from "./setting-cells.ts";
import { stackSection } from "./stack-section.ts";

const introduction = `# Settings

Written by \`npm run settings-doc\` from \`runtime/*/settings.ts\`; change it there.

Every setting has one name in snake_case. It is the environment variable and the key in the settings file as it stands; the flag is the
same in kebab-case; the key of a Pulumi stack is the same in camelCase under \`weir:\`, here \`weir:upstreamTimeout\`, or "–" where the
platform decides. On one machine
\`upstream_timeout\` may be said in three ways:

\`\`\`sh
npm start -- --upstream-timeout 60s
upstream_timeout=60s npm start
echo 'upstream_timeout: 60s' > weir.yaml && npm start -- --config weir.yaml
\`\`\`

The first of these that says something counts: flag, environment, settings file, default. \`config\` may also stand in the environment.

- A duration is \`1m30s\`, \`500ms\`, or whole seconds: \`90\`.
- A boolean is \`true\`, \`t\`, \`1\`, \`yes\` or \`false\`, \`f\`, \`0\`, \`no\`, in any case; a flag without a value is \`true\`.
- A list is separated by commas; in the file it may be a YAML list.
- A setting without a default must be set; one marked "–" may be left out.

## What is wrong is said at once

A process that finds anything wrong with its settings names all of it in one message, each with its value, and ends with code 1:

\`\`\`sh
npm start -- --port x --max-inflght 2 --ack-wait 10ms
\`\`\`

\`\`\`text
Cannot start:
  --max-inflght: no such flag; did you mean --max-inflight?
  port: expected a whole number, 0 to 65535, got "x" (flag --port)
  ack_wait: expected a duration from 1s to 1h, got "10ms" (flag --ack-wait)
\`\`\`

Unknown flags and unknown keys of the file are wrong. The environment belongs to everybody, so a variable there is never wrong; one that is
nearly the name of a setting, such as \`MAX_INFLIGHT\`, \`WEIR_PORT\` or \`upstream_timeot\`, gives a warning and is not read. Values of unknown
names are never shown.

The processes of one platform may share one settings file: each reads what it knows, and only keys that none of them has are wrong.
\`npm start\` refuses those that it decides itself, such as \`nats_url\`.

## A settings file

\`\`\`yaml
${exampleFile}\`\`\`

\`queues\` can only stand in the file. The queue \`default\` is always there; others need edition enterprise. What an entry leaves out comes
from the setting of that name, here \`max_inflight: 4\`. A queue that is declared exists; on one machine
its queue-workers run beside the others, elsewhere each is a process with \`queue\` set to its name. One that is declared no more takes no
new calls; those it holds stay until it is declared again. What a queue is for and how to size it: [queue.md](queue.md).

`;

const derived = `
## What follows from what

Times that must agree are worked out and cannot be set:

| What | Follows from |
|---|---|
| a synchronous call to the head of its reply | \`com.service.timeout\` of the function, else \`upstream_timeout\`; or its \`exec_timeout\` + 1 s if less |
| longest queued run | the longer of \`timeout\` of its queue (else \`upstream_timeout\`) and \`com.service.timeout\` of the function; or its \`exec_timeout\` + 1 s if less |
| whether a deployment is taken | \`com.service.timeout\` is at most \`timeout_max\`, and \`exec_timeout\` not above both limits of the two rows before, else 400 |
| time a stopping replica gets | the longest call or run of the function + 1 s; the watchdog's \`write_timeout\` is the same |
| silence an Ingress of class nginx allows | the longest of \`wake_timeout\` + \`timeout_max\`, \`stream_idle_timeout\` and \`websocket_idle\`, and 5 s |
| how long a stop waits for calls under way | \`drain_timeout\`; absent: the longer of 30 s and \`upstream_timeout\`, at most \`timeout_max\` |
| time a stopping gateway gets | \`shutdown_delay\`, that, and 5 s; its pod 5 s more |
| time a stopping queue-worker gets | that and 10 s; its pod 5 s more |
| time one machine gets to stop | both of these, and 15 s |
| heartbeat of a run | \`ack_wait\` ÷ 3; a call whose worker is silent is taken over after 0.95 × \`ack_wait\` |
| \`ack_wait\` of callbacks | that of queue \`default\` |
| record of a call under way | \`call_age\` + 1 day |
| record of an ended call | the longer of \`call_record_ttl\` and \`result.ttl\`, never below 2 min and 2 × \`ack_wait\` + 10 s |
| head of a callback's answer | \`callback_timeout\` ÷ 3 |
| largest message of the broker | \`async_max_body\` + 256 KiB |
| largest output that is kept | \`async_max_body\` |
| lease of the queue-doctor | the longer of \`lease_ttl\` and 2 × \`doctor_period\` |
| slots of a queue on one machine | \`queue_workers\` × \`max_inflight\`, or \`replicas\` × \`max_inflight\` of its entry |
`;

const functionIntroduction = `
## Function

What the watchdog in a function reads. The deployer sets it in \`envVars\`, or the image as its environment; \`envProcess\` is \`fprocess\`. It has
no settings file and no stack key. The provider sets address, port and \`write_timeout\`.

`;

/** The text of `docs/settings.md`, not formatted yet. */
export function settingsPage(): string {
  return [
    introduction,
    table(queueFieldRows(), ["Key of an entry", "Kind", "Default", "Meaning"]),
    derived,
    ...processes.map(processSection),
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

function processSection({ name, about, settings, rules, inStack }: DocumentedProcess): string {
  const sentences = [...new Set(rules.map(({ sentence }) => `- ${sentence}`))].join("\n");
  const columns = ["Environment and file", "Flag", ...(inStack ? ["Stack"] : []), "Kind", "Default", "Meaning"];
  return `\n## ${name}\n\n${about}\n\n${table(settingRows(settings, inStack), columns)}\nTogether they keep these rules:\n\n${sentences}\n`;
}

/** What the platform decides on Kubernetes, so that a stack cannot say it. */
function isDecided(key: string): boolean {
  return (decidedSettings as readonly string[]).includes(key) && !Object.hasOwn(generalOptions, key);
}

function settingRows(settings: Settings, inStack: boolean): string[][] {
  return Object.entries(settings).map(([key, setting]) => [
    code(setting.name),
    setting.parseFile === undefined ? code(`--${flagName(setting.name)}`) : "–",
    ...(inStack ? [isDecided(key) ? "–" : code(`weir:${key}`)] : []),
    kindOf(setting),
    defaultOf(setting),
    setting.about,
  ]);
}

/** Where the value of a field comes from when its entry does not say. */
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
