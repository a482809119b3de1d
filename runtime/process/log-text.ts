import { stripVTControlCharacters, styleText } from "node:util";

/** Styles a part of a line for a terminal. */
export type Paint = (style: "dim" | "bold" | "yellow" | "red" | "cyan", text: string) => string;

/** In colour if `stream` is a terminal that shows it; `NO_COLOR` is honoured. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** Fields that a line shows in a different way, or that a person at a terminal does not need. */
const shownApart = new Set(["level", "time", "name", "part", "msg", "functionName", "namespace", "err"]);
/** Fields that hold milliseconds. */
const millisecondFields = new Set(["duration", "drainTimeout"]);
const severe = { warn: 40, error: 50 } as const;

/**
 * A JSON line of the log, formatted for a person: time, message, the function (without one, the part of Weir that
 * logged it), then the rest as `key=value`. A line that is not JSON stays as it is.
 */
export function logText(line: string, paint: Paint): string {
  const entry = fieldsOf(line);
  if (entry === undefined) return line;
  const { level, time, part, msg, err } = entry;
  const functions = functionOf(entry);
  const parts = [
    paint("dim", clockOf(time)),
    ...severityOf(Number(level), paint),
    ...(functions.length === 0 && typeof part === "string" ? [paint("cyan", part)] : []),
    withoutControls(typeof msg === "string" ? msg : ""),
    ...functions.map((name) => paint("bold", name)),
    ...Object.entries(entry).flatMap(([key, value]) =>
      shownApart.has(key) || value === undefined || value === null
        ? []
        : [paint("dim", `${key}=`) + valueText(value) + (millisecondFields.has(key) ? "ms" : "")],
    ),
    ...(messageOf(err) === undefined ? [] : [paint("red", withoutControls(messageOf(err) ?? ""))]),
  ];
  return `${parts.join("  ")}\n${stackOf(Number(level), err, paint)}`;
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null ? { ...entry } : undefined;
  } catch {
    return undefined;
  }
}

/** As in `14:03:22`, in this machine's time zone. */
function clockOf(time: unknown): string {
  return new Date(String(time)).toTimeString().slice(0, 8);
}

function severityOf(level: number, paint: Paint): string[] {
  if (level >= severe.error) return [paint("red", "ERROR")];
  return level >= severe.warn ? [paint("yellow", "WARN")] : [];
}

function functionOf({ functionName, namespace }: Readonly<Record<string, unknown>>): string[] {
  if (typeof functionName !== "string") return [];
  return [withoutControls(typeof namespace === "string" ? `${functionName}.${namespace}` : functionName)];
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** A single word as it is, a time by the clock, all else as JSON, which escapes control sequences. */
function valueText(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  if (instant.test(value)) return clockOf(value);
  return /^[\w./:@%+,-]+$/.test(value) ? value : JSON.stringify(withoutControls(value));
}

function messageOf(err: unknown): string | undefined {
  return typeof err === "object" && err !== null && "message" in err ? String(err.message) : undefined;
}

/** The stack trace, for errors only. */
function stackOf(level: number, err: unknown, paint: Paint): string {
  if (level < severe.error || typeof err !== "object" || err === null || !("stack" in err)) return "";
  const lines = String(err.stack).split("\n").slice(1).map(withoutControls);
  return lines.map((line) => `${paint("dim", `          ${line.trim()}`)}\n`).join("");
}

/** Without terminal control sequences: fields may contain text from functions. */
function withoutControls(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}/gu, " ");
}
