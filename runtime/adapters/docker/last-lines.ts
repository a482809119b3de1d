import type { EngineClient } from "./engine-client.ts";
import { logFrames } from "./log-frames.ts";
import { logLines } from "../replica-logs/log-lines.ts";

/** A crash of Node.js is some twenty lines, and the first of them says why. */
const count = 100;

/** What a container wrote last, on either output. */
export async function lastLines(engine: EngineClient, container: string): Promise<string[]> {
  const query = { stdout: "1", stderr: "1", timestamps: "1", tail: String(count) };
  const stream = await engine.stream("GET", `/containers/${container}/logs`, { query });
  const lines: string[] = [];
  for await (const { text } of logLines(logFrames(stream))) lines.push(text);
  return lines;
}
