import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import type { Command } from "../command.ts";
import type { FunctionHandler } from "../function-handler.ts";
import { listensElsewhere } from "../../core/replicas/probe-fault.ts";
import { HttpProxy } from "./http-proxy.ts";
import { addressesListenedOn } from "../listening-process.ts";
import type { Failure } from "../parent.ts";
import { endOfWords, passLines } from "../pass-lines.ts";
import type { ProcessGroups } from "../process-groups.ts";
import { accepts, chooseUpstream } from "./upstream-address.ts";

/** Milliseconds after which a process that does not listen is reported. */
const listenTimeout = 5_000;
/** Milliseconds between two checks whether the process listens already. */
const firstInterval = 5;
const longestInterval = 250;
const growth = 1.25;

/** What mode `http` depends on. */
export interface HttpProcessParts {
  readonly command: Command;
  readonly environment: Readonly<Record<string, string>>;
  readonly upstreamUrl: string | undefined;
  /** Milliseconds; 0 = none. */
  readonly execTimeout: number;
  readonly bufferBody: boolean;
  readonly groups: ProcessGroups;
  readonly log: (line: string) => void;
  /** Receives what the process writes to standard error. */
  readonly errors: Writable;
  /** Called with the `host:port` where the process will listen, before it is started. */
  readonly onAddress: ((address: string) => void) | undefined;
  /** Called once if the process runs for 5 s and does not listen. */
  readonly waiting: (failure: Failure) => void;
}

/**
 * Mode `http`: starts the process once and proxies every request to it; ready while it accepts connections.
 * @throws FailureError when there is no usable address for it
 */
export async function startHttpProcess(parts: HttpProcessParts): Promise<FunctionHandler> {
  const { command, environment, groups } = parts;
  const address = await chooseUpstream(parts.upstreamUrl, environment["PORT"]);
  parts.onAddress?.(`${hostText(address.host)}:${address.port}`);
  const env = address.chosen ? { ...environment, PORT: String(address.port) } : environment;
  const child = groups.start(command, { env, stdio: ["ignore", "inherit", "pipe"] });
  const proxy = new HttpProxy({
    ...address,
    execTimeout: parts.execTimeout,
    bufferBody: parts.bufferBody,
    log: parts.log,
  });
  const errorsPassed = child.stderr === null ? Promise.resolve() : passLines(child.stderr, parts.errors);
  let exited = false;
  const ended = new Promise<Awaited<FunctionHandler["ended"]>>((resolve) => {
    child.once("error", (err) => {
      exited ||= child.pid === undefined;
      resolve({ reason: "CannotRun", message: `Cannot run the function: ${err.message}`, code: 127 });
    });
    child.once("exit", (code, signal) => {
      exited = true;
      const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with code ${code}`;
      const end = { reason: "Error", message: `The process ${how}`, code: code ?? 128 };
      void endOfWords(errorsPassed).then(() => resolve(end));
    });
  });

  const started = new Promise<void>((resolve) => {
    const look = async (interval: number): Promise<void> => {
      if (exited) return;
      if (await accepts(address)) resolve();
      else setTimeout(() => void look(Math.min(interval * growth, longestInterval)), interval);
    };
    void look(firstInterval);
  });
  const portSource = parts.upstreamUrl === undefined || address.chosen ? "$PORT" : "upstream_url";
  const reportWaiting = async (): Promise<void> => {
    const found = child.pid === undefined ? [] : await addressesListenedOn(child.pid);
    if (exited || (await accepts(address))) return;
    const message = listensElsewhere(`${hostText(address.host)}:${address.port}`, portSource, found);
    parts.waiting({ reason: "NotListening", message });
  };
  const timer = setTimeout(() => void reportWaiting(), listenTimeout);
  void Promise.race([started, ended]).then(() => clearTimeout(timer));

  return {
    handle: (request, response) => proxy.handle(request, response),
    upgrade: (request, socket, head) => proxy.upgrade(request, socket, head),
    givesContinue: true,
    tunnel: (socket, head) => proxy.tunnel(socket, head),
    ready: async () => !exited && (await accepts(address)),
    started,
    ended,
    close: async (grace) => {
      proxy.close();
      if (!exited) {
        groups.signal(child, "SIGTERM");
        await Promise.race([once(child, "exit"), sleep(grace, undefined, { ref: false })]);
      }
      groups.killAll();
      await endOfWords(errorsPassed);
    },
  };
}

function hostText(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
