import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { findTool } from "../../scripts/debian-tool.ts";
import { eventually } from "./eventually.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";
import { descendants } from "./process-tree.ts";

/** Proxies that `docs/reference/proxies.md` shows. */
export const proxyKinds = ["nginx", "haproxy"] as const;
export type ProxyKind = (typeof proxyKinds)[number];

/** A request as the proxy logged it. */
export interface ProxyLine {
  /** The request line as received, or what the proxy logs for one that it could not read. */
  readonly request: string;
  /** The status that the client got; 0 for none. */
  readonly status: number;
  /** How often the request was sent to a gateway. */
  readonly sent: number;
}

/** A running proxy. */
export interface RunningProxy {
  ended(): boolean;
  /** Resolves when new processes serve with the current configuration. */
  reload(): Promise<void>;
  /** Number of processes that a reload replaced and that still run. */
  retiring(): number;
  close(): Promise<void>;
}

/** How one kind of proxy is run. */
export interface ProxyProgram {
  /** The complete configuration around what the page shows. */
  config(shown: string, directory: string): string;
  /** Runs it on `config` in the directory, where it writes `access` and `errors`. */
  run(directory: string): RunningProxy;
  /** Undefined for lines that are not about a request. */
  parse(line: string): ProxyLine | undefined;
}

const nginx: ProxyProgram = {
  config: (shown, directory) => {
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${directory}/${name};`,
    );
    // The workers of root's nginx would run as another user, who may not read the directory.
    const user = process.getuid?.() === 0 ? "user root;" : "";
    return `
      ${user} daemon off; worker_processes 1; pid ${directory}/pid;
      events { worker_connections 4096; }
      http {
        ${temporary.join(" ")}
        log_format counted escape=json '{"request":"$request","status":"$status","bytes":"$upstream_bytes_sent"}';
        access_log ${directory}/access counted;
        ${shown}
      }`;
  },
  run: (directory) => {
    const master = launch(
      ["nginx", "-p", directory, "-c", join(directory, "config"), "-e", join(directory, "errors")],
      directory,
    );
    let retired = new Set<number>();
    const workers = (): readonly number[] => descendants(master.pid).map(({ pid }) => pid);
    return {
      ended: master.ended,
      reload: async () => {
        const before = new Set(workers());
        retired = new Set([...retired, ...before]);
        process.kill(master.pid, "SIGHUP");
        await eventually(() => workers().some((pid) => !before.has(pid)), {
          every: 5,
          what: "new workers of nginx",
        });
      },
      retiring: () => workers().filter((pid) => retired.has(pid)).length,
      close: () => master.end("SIGTERM"),
    };
  },
  parse: (line) => {
    if (line === "") return undefined;
    const { request, status, bytes } = JSON.parse(line) as { request: string; status: string; bytes: string };
    // One number for each attempt.
    const attempts = bytes.split(", ").filter((sent) => Number(sent) > 0);
    return { request, status: Number(status), sent: attempts.length };
  },
};

const haproxy: ProxyProgram = {
  // One thread: a line is dropped when another thread is still writing its own (`DroppedLogs` of `show info`).
  config: (shown, directory) => `
global
    nbthread 1
    log stdout len 16384 format raw local0
    stats socket ${directory}/socket mode 600 level admin expose-fd listeners
    tune.http.logurilen 9000
defaults
    log global
    option dontlognull
    log-format "request %ST %s %Tc %rc %{+Q}r"
${shown}`,
  run: (directory) => {
    const command = ["haproxy", "-f", join(directory, "config")];
    const processes = [launch(command, directory)];
    const current = (): Launched => {
      const last = processes.at(-1);
      if (last === undefined) throw new Error("haproxy has at least one process");
      return last;
    };
    return {
      ended: () => current().ended(),
      reload: async () => {
        const old = current();
        const socket = join(directory, "socket");
        const next = launch([...command, "-x", socket, "-sf", String(old.pid)], directory);
        processes.push(next);
        await eventually(async () => (await queryStats(socket, "show info")).includes(`\nPid: ${next.pid}\n`), {
          every: 5,
          what: "the new haproxy",
        });
      },
      retiring: () => processes.slice(0, -1).filter((each) => !each.ended()).length,
      close: async () => {
        await Promise.all(processes.map((each) => each.end("SIGTERM")));
      },
    };
  },
  parse: (line) => {
    const [, status, server, connected, retries, request = ""] =
      /^request (-?\d+) (\S+) (-?\d+) \+?(\d+) "(.*)"$/.exec(line) ?? [];
    if (status === undefined) return undefined;
    const isSent = server !== "<NOSRV>" && Number(connected) >= 0;
    // Special characters are logged as # and two hex digits.
    const decoded = request.replaceAll(/#([0-9A-F]{2})/g, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return { request: decoded, status: Math.max(0, Number(status)), sent: isSent ? 1 + Number(retries) : 0 };
  },
};

/** Haproxy's response on its stats socket. */
async function queryStats(path: string, command: string): Promise<string> {
  const socket = connect(path);
  socket.end(`${command}\n`);
  return text(socket);
}

/** How each kind is run. */
export const proxyPrograms: Readonly<Record<ProxyKind, ProxyProgram>> = { nginx, haproxy };

interface Launched {
  readonly pid: number;
  ended(): boolean;
  /** Resolves when it is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Standard output goes to the file `access`, because a pipe could be full. */
function launch(command: readonly string[], directory: string): Launched {
  const [name = "", ...args] = command;
  const access = openSync(join(directory, "access"), "a");
  const errors = openSync(join(directory, "errors"), "a");
  const child: ChildProcess = spawn(findTool(name) ?? name, args, { stdio: ["ignore", access, errors] });
  closeSync(access);
  closeSync(errors);
  const { pid } = child;
  if (pid === undefined) throw new Error(`Cannot start ${name}: no process was made`);
  killAtExit(child, { signal: "SIGTERM" });
  const ended = (): boolean => !isRunningChild(child);
  return {
    pid,
    ended,
    end: async (signal) => {
      if (ended()) return;
      child.kill(signal);
      await eventually(ended, { what: `${name} to end` });
    },
  };
}
