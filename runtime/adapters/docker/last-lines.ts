import type { EngineClient } from "./engine-client.ts";
import { logFrames } from "./log-frames.ts";
import { endedLogSize } from "../replica-logs/ended-logs.ts";
import { logLines, type LogLine } from "../replica-logs/log-lines.ts";

/** A crash of Node.js is some twenty lines, and the first of them says why. */
const count = 100;
/** The engine counts lines, not bytes: so many short ones are more than is kept. */
const endCount = 8_192;

/** What a container wrote last, on either output. */
export async function lastLines(engine: EngineClient, container: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const { text } of await tailOf(engine, container, count)) lines.push(text);
  return lines;
}

/** The end of a container's log, at most 64 KiB: whole lines, each with its time. */
export async function endOfLog(engine: EngineClient, container: string): Promise<string> {
  const lines: string[] = [];
  let size = 0;
  for await (const { timestamp, text } of await tailOf(engine, container, endCount)) {
    const line = `${timestamp} ${text}\n`;
    lines.push(line);
    size += Buffer.byteLength(line);
    while (size > endedLogSize && lines.length > 1) size -= Buffer.byteLength(lines.shift() ?? "");
  }
  return lines.join("");
}

async function tailOf(engine: EngineClient, container: string, tail: number): Promise<AsyncIterable<LogLine>> {
  const query = { stdout: "1", stderr: "1", timestamps: "1", tail: String(tail) };
  return logLines(logFrames(await engine.stream("GET", `/containers/${container}/logs`, { query })));
}
