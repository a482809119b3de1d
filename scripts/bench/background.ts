import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

/** A process of the bench that runs beside it. */
export interface Background {
  readonly child: ChildProcess;
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Starts a process; its errors go to the terminal. */
export function startBackground(command: readonly string[]): Background {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  child.on("error", () => {});
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

/** The first line that the process prints. */
export async function firstLine({ child }: Background): Promise<string> {
  if (child.stdout === null) throw new Error("Cannot read a line: the process has no output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("Cannot read a line: the process ended");
}

/** Resolves once something listens on the port of the loopback address. */
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
