import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";

import { formatDuration } from "../api/duration.ts";
import { lasting, publicly, type PublicSentence } from "../api/public-sentence.ts";
import { header } from "../api/names.ts";
import { lineTag } from "../core/replicas/tagged-line.ts";
import type { Command } from "./command.ts";
import { refuse, type FunctionHandler } from "./function-handler.ts";
import { HeldOutput } from "./held-output.ts";
import { findListener } from "./listening-process.ts";
import { endOfWords, fledPatience, passLines } from "./pass-lines.ts";
import type { ProcessGroups } from "./process-groups.ts";
import { requestEnvironment } from "./request-environment.ts";
import { watchForServer, type InputState } from "./server-watch.ts";

/** What mode `process` depends on. */
export interface ProcessPerRequestParts {
  readonly command: Command;
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds; 0 = none. */
  readonly execTimeout: number;
  readonly contentType: string | undefined;
  readonly groups: ProcessGroups;
  readonly log: (line: string, tag?: string) => void;
  /** Receives what processes write to standard error. */
  readonly errors: Writable;
}

/**
 * Mode `process`: one process per request, the body on its standard input, its standard output streamed back with
 * status 200. A code other than 0, or a signal, is 500 as long as nothing was sent; later the connection is aborted. A
 * process that turns out to be a server is 502; if it may be one, the log says so once.
 */
export function processPerRequest(parts: ProcessPerRequestParts): FunctionHandler {
  const errorStreams = new Set<Promise<void>>();
  let hinted = false;
  const hint = (port: number): void => {
    if (!hinted) parts.log(`the process ${waitsOn(port)}`);
    hinted = true;
  };
  return {
    handle: (request, response) => runProcess(parts, { hint, errorStreams }, request, response),
    ready: async () => true,
    started: Promise.resolve(),
    ended: new Promise(() => {}),
    close: async () => {
      parts.groups.killAll();
      await endOfWords(Promise.all(errorStreams));
    },
  };
}

/** What the calls of a function share. */
interface SharedByCalls {
  /** Says once that a process may be a server. */
  readonly hint: (port: number) => void;
  /** One for each process whose standard error has not ended. */
  readonly errorStreams: Set<Promise<void>>;
}

/** The hint about a process that may be a server. */
export function waitsOn(port: number): string {
  return `listens on port ${port} and waits: if it is a server, set mode to http`;
}

/** Says that a process took longer than `limit` milliseconds and, if it listens, that it may be a server. */
export function timedOut(limit: number, listens: boolean): PublicSentence {
  const took = publicly`the process took longer than exec_timeout of ${lasting(limit)}`;
  return listens ? publicly`${took}; it listens on a port and waits: if it is a server, set mode to http` : took;
}

function runProcess(
  parts: ProcessPerRequestParts,
  { hint, errorStreams }: SharedByCalls,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { groups, execTimeout } = parts;
  const tag = tagOf(request);
  const log = (line: string): void => parts.log(line, tag);
  const env = { ...parts.environment, ...requestEnvironment(request) };
  const cannotRun = (err: unknown): void => {
    log(`cannot run the process: ${messageOf(err)}`);
    refuse(response, 500, publicly`Cannot run the function: its process does not start`);
  };
  let child: ChildProcess;
  try {
    child = groups.start(parts.command, { env, stdio: ["pipe", "pipe", "pipe"] });
  } catch (err) {
    cannotRun(err);
    return;
  }

  /** Where it listens while it may be a server. */
  let port: number | undefined;
  const timer =
    execTimeout === 0
      ? undefined
      : setTimeout(() => {
          log(`process killed after exec_timeout of ${formatDuration(execTimeout)}`);
          groups.signal(child, "SIGKILL");
          refuse(response, 504, publicly`Cannot complete the call: ${timedOut(execTimeout, port !== undefined)}`);
        }, execTimeout);
  const held = new HeldOutput({
    send: (chunk) => sendOutput(parts, child, response, chunk),
    seemsServer: async () => child.pid !== undefined && (await findListener(child.pid)) !== undefined,
  });
  const endWatch = watchForServer({
    pid: child.pid ?? 0,
    input: () => inputOf(child),
    isServer: (found) => {
      const advice = publicly`instead of reading its input: set mode to http`;
      log(`the process listens on port ${found} ${String(advice)}`);
      refuse(response, 502, publicly`Cannot complete the call: the process listens on a port ${advice}`);
    },
    maybeServer: (found) => {
      port = found;
      hint(found);
    },
    isNone: () => {
      port = undefined;
      held.release();
    },
  });
  response.once("close", () => {
    clearTimeout(timer);
    endWatch();
    // Complete, or left by the client: either way the process is not needed any more.
    groups.signal(child, "SIGKILL");
  });
  child.once("error", cannotRun);
  const finish = (code: number | null, signal: NodeJS.Signals | null): void => {
    endWatch();
    // If the process failed before any output was sent, the response can still say so.
    if (code === 0) held.release();
    if (response.writableEnded || response.destroyed) return;
    if (code === 0) {
      sendHead(parts, response);
      response.end();
      return;
    }
    const end = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with code ${code}`;
    const ended = code === null ? publicly`was ended by a signal` : publicly`ended with code ${code}`;
    log(response.headersSent ? `process ${end} after it wrote a part of the response, which is cut` : `process ${end}`);
    refuse(response, 500, publicly`Cannot complete the call: the process ${ended}`);
  };
  const errorsPassed = child.stderr === null ? Promise.resolve() : passLines(child.stderr, parts.errors, tag);
  errorStreams.add(errorsPassed);
  void errorsPassed.finally(() => errorStreams.delete(errorsPassed));
  feed(request, child);
  child.stdout?.on("error", () => response.destroy());
  child.stdout?.on("data", (chunk: Buffer) => held.add(chunk));
  child.once("exit", (code, signal) => {
    if (code === 0) held.release();
    endOutput(child, response);
    // Its standard error is logged before the way it ended.
    const logged = code === 0 ? undefined : endOfWords(errorsPassed);
    void Promise.all([closed(child.stdout), logged]).then(() => finish(code, signal));
  });
}

/** What its lines begin with, so that the history knows whose they are. */
function tagOf({ headers }: IncomingMessage): string {
  const id = headers[header.callId.toLowerCase()];
  return typeof id === "string" ? lineTag(id) : "";
}

/** Closes the output of a process that has ended: processes that it started may hold it open and are not waited for. */
function endOutput({ stdout }: ChildProcess, response: ServerResponse): void {
  if (stdout === null) return;
  const timer = setInterval(() => {
    // A caller that reads slowly still gets all of it.
    if (response.writableNeedDrain || stdout.readableLength > 0) return;
    stdout.destroy();
  }, fledPatience);
  stdout.on("data", () => timer.refresh());
  stdout.once("close", () => clearInterval(timer));
}

async function closed(stdout: Readable | null): Promise<void> {
  if (stdout !== null && !stdout.closed) await once(stdout, "close").catch(() => {});
}

function feed(request: IncomingMessage, { stdin }: ChildProcess): void {
  if (stdin === null) return;
  // A process may end, or close its input, without having read all of it: the rest is read and dropped.
  const drop = (): void => {
    request.unpipe(stdin);
    request.resume();
  };
  stdin.on("error", drop);
  stdin.once("close", drop);
  request.pipe(stdin);
}

function inputOf({ stdin }: ChildProcess): InputState {
  if (stdin?.writableFinished !== false) return "given";
  return stdin.writableNeedDrain ? "unread" : "coming";
}

function sendOutput(
  parts: ProcessPerRequestParts,
  { stdout }: ChildProcess,
  response: ServerResponse,
  chunk: Buffer,
): void {
  if (response.writableEnded || response.destroyed) return;
  sendHead(parts, response);
  if (response.write(chunk)) return;
  stdout?.pause();
  response.once("drain", () => stdout?.resume());
}

function sendHead({ contentType }: ProcessPerRequestParts, response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(200, contentType === undefined ? {} : { "content-type": contentType });
}

function messageOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
