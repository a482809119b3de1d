import type { EngineClient } from "./engine/engine-client.ts";
import { logFrames } from "./engine/log-frames.ts";
import { endOfLines, mostEndLines } from "../../replica-logs/end-of-lines.ts";
import { formatLoggedLine } from "../../replica-logs/logged-line.ts";
import { logLines, type LogLine } from "../../replica-logs/log-lines.ts";

/** A crash of Node.js prints some twenty lines, and the first of them says why. */
const count = 100;

/** The last lines that a container wrote, on either output. */
export async function lastLines(engine: EngineClient, container: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const { text } of await tailOf(engine, container, count)) lines.push(text);
  return lines;
}

/** The end of a container's log, at most 64 KiB: whole lines, each with its timestamp. */
export async function endOfContainerLog(engine: EngineClient, container: string): Promise<string> {
  const lines = await endOfLines(await tailOf(engine, container, mostEndLines));
  return lines.map(formatLoggedLine).join("");
}

async function tailOf(engine: EngineClient, container: string, tail: number): Promise<AsyncIterable<LogLine>> {
  const query = { stdout: "1", stderr: "1", timestamps: "1", tail: String(tail) };
  return logLines(logFrames(await engine.stream("GET", `/containers/${container}/logs`, { query })));
}
