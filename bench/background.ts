import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import { environment } from "../runtime/process/settings.ts";

/** A child process of the bench. */
export interface Background {
  readonly child: ChildProcess;
  /** Ends the process; resolves once it has exited. */
  stop(): Promise<void>;
}

/**
 * Starts a process that does not outlive this one. Its standard error goes to the terminal; `variables` are added to
 * the inherited environment.
 */
export function startBackground(
  command: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Background {
  const [program = "", ...args] = command;
  const env = { ...environment(), ...variables };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  child.on("error", () => {});
  const killAtExit = (): void => void child.kill("SIGKILL");
  process.once("exit", killAtExit);
  child.once("exit", () => process.off("exit", killAtExit));
  return {
    child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), 3_000);
      await exited;
      clearTimeout(force);
    },
  };
}

/** Resolves with the first line of standard output; rejects if the process ends before it. */
export async function firstLine({ child }: Background): Promise<string> {
  if (child.stdout === null) throw new Error("Cannot read a line: the process has no output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("Cannot read a line: the process ended");
}

/** A child process that serves on a port of the loopback address. */
export interface Server {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a process that prints the port it listens on as its first line. */
export async function openServer(command: readonly string[]): Promise<Server> {
  const background = startBackground(command);
  const close = (): Promise<void> => background.stop();
  try {
    const port = Number(await firstLine(background));
    if (!(port > 0)) throw new Error(`Cannot use ${command.join(" ")}: it does not say its port`);
    return { port, close };
  } catch (err) {
    await close();
    throw err;
  }
}

/** Resolves once something listens on the port of the loopback address; `timeout` in milliseconds. */
export async function portOpen(port: number, timeout = 5_000): Promise<void> {
  for (const deadline = Date.now() + timeout; Date.now() < deadline; await wait(20)) {
    const socket = connect(port, "127.0.0.1");
    const opened = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (opened) return;
  }
  throw new Error(`Cannot reach port ${port}: nothing listens after ${timeout} ms`);
}
