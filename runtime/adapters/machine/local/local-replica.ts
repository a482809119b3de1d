import { spawn, type ChildProcess } from "node:child_process";

import { unixAddress } from "../../../api/replica-address.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { Replica } from "../../../core/ports/replicas.ts";
import type { ReplicaFailure } from "../../../core/replicas/reconcile-backoff.ts";
import { withLastWords } from "../../../core/replicas/replica-end.ts";
import { endedLogSize, textsIn } from "../../replica-logs/ended-logs.ts";
import { killProcessesOf } from "./processes-of-replica.ts";
import type { ReplicaLog } from "./logs/replica-log.ts";
import { reportIn } from "./watchdog-report.ts";

/** How one replica is run. */
export interface LocalReplicaOptions extends FunctionRef {
  readonly id: string;
  readonly generation: number;
  /** Program and arguments of the watchdog. */
  readonly command: readonly string[];
  /** The watchdog's own environment. */
  readonly watchdogEnvironment: Readonly<Record<string, string>>;
  /** The function's whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Path of the Unix socket on which the watchdog listens. */
  readonly socket: string;
  /** The replica's own directory. */
  readonly directory: string;
  /** Where it works, unless its command goes elsewhere. */
  readonly workingDirectory: string;
  /** Undefined = the user of this process. */
  readonly user: number | undefined;
  /** Milliseconds to finish calls when stopping. */
  readonly grace: number;
  readonly log: ReplicaLog;
  /** Called after each change of state. */
  readonly changed: () => void;
}

/** Milliseconds that the watchdog gets beyond the grace to end by itself. */
const margin = 3_000;
const pipesTimeout = 1_000;

/** One watchdog with the function behind it, in a process group of its own. */
export class LocalReplica {
  readonly #options: LocalReplicaOptions;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #state: Replica["state"] = "starting";
  #address: string | undefined;
  /** Where the process behind the watchdog listens. */
  #inner: string | undefined;
  #failure: ReplicaFailure | undefined;
  /** Why the function takes no calls yet. */
  #waiting: ReplicaFailure | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: LocalReplicaOptions) {
    this.#options = options;
    const [program = "", ...args] = options.command;
    this.#child = spawn(program, args, {
      cwd: options.workingDirectory,
      env: options.watchdogEnvironment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#ended = new Promise((resolve) => {
      this.#child.on("error", (err) => {
        if (this.#child.pid === undefined) void this.#end(`could not be started: ${err.message}`).then(resolve);
      });
      this.#child.once("exit", (code, signal) => {
        void this.#end(code === null ? `ended by ${signal ?? "a signal"}` : `ended with code ${code}`).then(resolve);
      });
    });
    this.#listen();
  }

  /** Process id of the watchdog; undefined when it could not be started or has ended. */
  get pid(): number | undefined {
    return this.#state === "exited" ? undefined : this.#child.pid;
  }

  /** As `Replicas` lists it. */
  describe(): Replica {
    const { id, name, namespace, generation } = this.#options;
    const failure = this.#failure ?? (this.#state === "running" ? this.#waiting : undefined);
    const places = { address: this.#address, inner: this.#inner };
    return { id, name, namespace, generation, state: this.#state, ...places, failure };
  }

  /** Resolves when no process of the replica is left and its log is closed. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ends it by force, which aborts calls in flight. */
  kill(): void {
    this.#killGroup();
  }

  async #stop(): Promise<void> {
    if (this.#state !== "exited") {
      this.#state = "stopping";
      this.#child.kill("SIGTERM");
      const timer = setTimeout(() => this.#killGroup(), this.#options.grace + margin);
      await this.#ended;
      clearTimeout(timer);
    }
    await this.#ended;
  }

  #listen(): void {
    const { log, environment, changed } = this.#options;
    const { stdout, stderr } = this.#child;
    if (stdout !== null) log.take(stdout, "stdout");
    if (stderr !== null) log.take(stderr, "stderr");
    this.#child.on("message", (message) => {
      const report = reportIn(message);
      if (report === undefined || this.#state === "exited") return;
      if ("failure" in report) {
        this.#failure = report.failure;
        return;
      }
      if ("inner" in report) {
        this.#inner = report.inner;
        return;
      }
      if ("waiting" in report) {
        const { reason, message: detail } = report.waiting;
        this.#waiting = { reason, message: `Replica ${this.#options.id} is not ready: ${detail}` };
        changed();
        return;
      }
      this.#address = unixAddress(this.#options.socket);
      if (this.#state === "starting") this.#state = "running";
      changed();
    });
    // The watchdog may end before it has read this: then its exit is reported.
    if (this.#child.pid !== undefined) this.#child.send({ environment }, () => {});
  }

  async #end(how: string): Promise<void> {
    this.#killGroup();
    await killProcessesOf(this.#options.directory, this.#options.user);
    // Reads all that it wrote, but does not wait long for processes that left the group and hold the pipes open.
    const timer = setTimeout(() => {
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
    }, pipesTimeout);
    await this.#options.log.close();
    clearTimeout(timer);
    const written = textsIn(await this.#options.log.end(endedLogSize));
    const wasStopping = this.#state === "stopping";
    this.#state = "exited";
    if (!wasStopping) {
      const { reason, message } = this.#failure ?? { reason: "Error", message: `Replica ${this.#options.id} ${how}` };
      this.#failure = { reason, message: withLastWords(message, written) };
    }
    this.#options.changed();
  }

  #killGroup(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // No process of the group is left.
    }
  }
}
