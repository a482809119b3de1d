import { formatDuration, parseDuration } from "../../../api/duration.ts";
import { keyPrefixes } from "../../../api/names.ts";
import { annotationKey } from "../../../api/schemas/key-rules.ts";
import { textByDefaults } from "../source/references.ts";

/** The variables by which images of OpenFaaS bound a call; there, the longest of them decides how long it may take. */
const timeVariables = ["exec_timeout", "read_timeout", "write_timeout"] as const;

/** Defaults of the gateway's settings `upstream_timeout` and `timeout_max`, milliseconds. */
const [defaultTimeout, defaultTimeoutMax] = [30_000, 3_600_000];

const timeoutKey = keyPrefixes[0] + annotationKey.timeout.name;

/** What is said of a variable, and whether Weir can take it. */
export interface VariableNote {
  readonly note: string;
  /** It is left out. */
  readonly refused?: true;
  /** It is kept, and yet the function does not do what it did without more. */
  readonly warns?: true;
}

/** What the times of a function become. */
export interface ImportedTimes {
  /** Value of the annotation that lets a call take as long as it could; undefined where the gateway's default does. */
  readonly timeout: string | undefined;
  /** By the name of a variable. */
  readonly notes: ReadonlyMap<string, VariableNote>;
}

/**
 * How long a call of a function could take, from its variables and annotations as they were, `${NAME:-default}` with
 * the default. A time that is longer than a gateway allows by default needs an annotation; without it the deployment is
 * refused, or calls end early.
 */
export function callTimes(
  variables: ReadonlyMap<string, string>,
  annotations: ReadonlyMap<string, string>,
  isStackFile: boolean,
): ImportedTimes {
  const notes = new Map<string, VariableNote>();
  const known = (text: string | undefined): string | undefined =>
    text === undefined || !isStackFile ? text : textByDefaults(text);
  let [longest, by] = [0, ""];
  for (const name of timeVariables) {
    const text = known(variables.get(name));
    if (text === undefined || text === "") continue;
    const time = parseDuration(text);
    if (time === undefined)
      notes.set(name, { note: `"${text}" is no duration of Weir: write 30s or 1m30s`, refused: true });
    else if (time > longest) [longest, by] = [time, name];
  }
  const mode = known(variables.get("mode"));
  if (mode !== undefined && !modes.has(mode)) notes.set("mode", { note: modeNote });
  const sent = keyPrefixes.map((prefix) => known(annotations.get(prefix + annotationKey.timeout.name))).find(Boolean);
  const own = sent === undefined ? undefined : parseDuration(sent);
  if (own !== undefined && longest > own)
    notes.set(by, {
      note: `${formatDuration(longest)} is above ${timeoutKey}, ${formatDuration(own)}: raise it`,
      warns: true,
    });
  if (sent !== undefined || longest <= defaultTimeout) return { timeout: undefined, notes };
  const timeout = formatDuration(longest);
  if (longest > defaultTimeoutMax)
    notes.set(by, { note: `the gateway's timeout_max must be ${timeout} or more; its default is 1h`, warns: true });
  else notes.set(by, { note: `also annotation ${timeoutKey}, so that a call may take ${timeout}` });
  return { timeout, notes };
}

/** Modes of Weir's watchdog; the first two are one process for each request. */
const modes: ReadonlySet<string> = new Set(["process", "streaming", "serializing", "http", ""]);
const modeNote =
  "kept for the watchdog in the image: Weir's own has process (also called streaming and serializing) and http";

/** `deployed` with the annotation that its calls need. */
export function withTimeout<T extends { readonly annotations?: Readonly<Record<string, string>> | undefined }>(
  deployed: T,
  { timeout }: ImportedTimes,
): T {
  if (timeout === undefined) return deployed;
  return { ...deployed, annotations: { ...deployed.annotations, [timeoutKey]: timeout } };
}
