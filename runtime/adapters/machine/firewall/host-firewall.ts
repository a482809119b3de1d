import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";

import type { EngineLog } from "../../../core/ports/engine.ts";
import { bridgePrefix } from "./bridge-name.ts";
import {
  firewallChains,
  firewallRules,
  parseNameServers,
  parseUplinks,
  type FirewallChains,
} from "./firewall-rules.ts";

export interface HostFirewallOptions {
  readonly instance: string;
  readonly gatewayPort: number;
  readonly log: EngineLog;
  /** How programs are run; as processes of this host when absent. */
  readonly run?: RunProgram;
  /** Whether this process may change rules; as root on Linux when absent. */
  readonly privileged?: boolean;
}

/** Runs a program with text on its standard input. Rejects with what it wrote to standard error when it fails. */
export type RunProgram = (program: string, args: readonly string[], input?: string) => Promise<void>;

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const timeout = 20_000;
/** Milliseconds between two checks: programs that load their own rules may drop ours. */
const checkInterval = 30_000;
const resolvers = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/**
 * Rules of this host that keep containers of one instance from its services, from metadata addresses and from other
 * bridges, in chains of their own that `close` removes. If rules cannot be added, it logs that once, goes on without,
 * and tries again with each check.
 */
export class HostFirewall {
  readonly #options: HostFirewallOptions;
  readonly #chains: FirewallChains;
  readonly #interfaces: string;
  readonly #run: RunProgram;
  readonly #privileged: boolean;
  #gateways: readonly string[] = [];
  #last: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #warned = false;
  #closed = false;

  constructor(options: HostFirewallOptions) {
    this.#options = options;
    this.#chains = firewallChains(options.instance);
    this.#interfaces = `${bridgePrefix(options.instance)}+`;
    this.#run = options.run ?? runProgram;
    this.#privileged = options.privileged ?? (process.platform === "linux" && process.getuid?.() === 0);
  }

  /** Installs the rules; the gateway listens at `gateways`. */
  allow(gateways: readonly string[]): Promise<void> {
    this.#gateways = gateways;
    return this.#change(async () => {
      if (this.#closed) return;
      await this.#apply();
      this.#timer ??= setInterval(() => void this.#change(() => this.#repair()), checkInterval).unref();
    });
  }

  /** Reinstalls rules that other programs may have dropped. */
  restore(): Promise<void> {
    return this.#change(() => this.#repair());
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#change(async () => {
      this.#closed = true;
      if (!this.#privileged) return;
      const { toHost, through } = this.#chains;
      for (const [from, chain] of [...this.#jumps("DOCKER-USER"), ...this.#jumps("FORWARD")])
        while (await this.#succeeds("iptables", ["-w", "5", "-D", from, ...this.#jump(chain)]));
      for (const chain of [toHost, through])
        for (const flag of ["-F", "-X"]) await this.#succeeds("iptables", ["-w", "5", flag, chain]);
    });
  }

  #jumps(passing: string): [from: string, chain: string][] {
    return [
      ["INPUT", this.#chains.toHost],
      [passing, this.#chains.through],
    ];
  }

  #jump(chain: string): string[] {
    return ["-i", this.#interfaces, "-j", chain];
  }

  async #repair(): Promise<void> {
    if (this.#closed || !this.#privileged) return;
    if ((await this.#missingJumps()).length > 0) await this.#apply();
  }

  async #apply(): Promise<void> {
    if (!this.#privileged) {
      this.#warn("adding them needs root");
      return;
    }
    const facts = {
      chains: this.#chains,
      gateways: this.#gateways,
      gatewayPort: this.#options.gatewayPort,
      nameServers: [...new Set((await textsOf(resolvers)).flatMap(parseNameServers))],
      uplinks: (await textsOf(["/proc/net/route"])).flatMap(parseUplinks),
    };
    try {
      await this.#run("iptables-restore", ["-w", "5", "--noflush"], firewallRules(facts));
      for (const [from, chain] of await this.#missingJumps())
        await this.#run("iptables", ["-w", "5", "-I", from, ...this.#jump(chain)]);
      if (this.#warned) this.#options.log.info({}, "the firewall rules are in place");
      this.#warned = false;
    } catch (err) {
      this.#warn(err instanceof Error ? err.message : String(err));
    }
  }

  async #missingJumps(): Promise<[from: string, chain: string][]> {
    const isDocker = await this.#succeeds("iptables", ["-w", "5", "-n", "-L", "DOCKER-USER"]);
    const missing: [string, string][] = [];
    for (const [from, chain] of this.#jumps(isDocker ? "DOCKER-USER" : "FORWARD"))
      if (!(await this.#succeeds("iptables", ["-w", "5", "-C", from, ...this.#jump(chain)])))
        missing.push([from, chain]);
    return missing;
  }

  #warn(why: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.log.warn(
      { reason: why },
      "functions can reach services of this host and metadata addresses: there are no firewall rules",
    );
  }

  #succeeds(program: string, args: readonly string[]): Promise<boolean> {
    return this.#run(program, args).then(
      () => true,
      () => false,
    );
  }

  #change(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

async function textsOf(files: readonly string[]): Promise<string[]> {
  return await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
}

function runProgram(program: string, args: readonly string[], input = ""): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...args], { timeout, env: { PATH: path } }, (err, _stdout, stderr) => {
      if (err === null) resolve();
      else reject(new Error(stderr.trim() === "" ? err.message : stderr.trim()));
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
