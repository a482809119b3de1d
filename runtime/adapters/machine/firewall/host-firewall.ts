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
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const timeout = 20_000;
/** Others, who load their own rules, may drop ours. */
const lookInterval = 30_000;
const resolvers = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/**
 * Rules of this host that keep containers of one instance from its services, from metadata addresses and from other
 * bridges; in chains of their own, which go with `close`. Where rules cannot be made it says so once, and goes on without.
 */
export class HostFirewall {
  readonly #options: HostFirewallOptions;
  readonly #chains: FirewallChains;
  readonly #interfaces: string;
  #gateways: readonly string[] = [];
  #last: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #warned = false;
  #closed = false;

  constructor(options: HostFirewallOptions) {
    this.#options = options;
    this.#chains = firewallChains(options.instance);
    this.#interfaces = `${bridgePrefix(options.instance)}+`;
  }

  /** Puts the rules in place; the gateway answers at `gateways`. */
  allow(gateways: readonly string[]): Promise<void> {
    this.#gateways = gateways;
    return this.#change(async () => {
      if (this.#closed) return;
      await this.#apply();
      this.#timer ??= setInterval(() => void this.#change(() => this.#lookAfter()), lookInterval).unref();
    });
  }

  /** Puts back what others may have dropped. */
  restore(): Promise<void> {
    return this.#change(() => this.#lookAfter());
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#change(async () => {
      this.#closed = true;
      if (!canChange()) return;
      const { toHost, through } = this.#chains;
      for (const [from, chain] of [...this.#jumps("DOCKER-USER"), ...this.#jumps("FORWARD")])
        while (await succeeds("iptables", ["-w", "5", "-D", from, ...this.#jump(chain)]));
      for (const chain of [toHost, through])
        for (const flag of ["-F", "-X"]) await succeeds("iptables", ["-w", "5", flag, chain]);
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

  async #lookAfter(): Promise<void> {
    if (this.#closed || this.#warned) return;
    if ((await this.#missingJumps()).length > 0) await this.#apply();
  }

  async #apply(): Promise<void> {
    if (!canChange()) {
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
      await run("iptables-restore", ["-w", "5", "--noflush"], firewallRules(facts));
      for (const [from, chain] of await this.#missingJumps())
        await run("iptables", ["-w", "5", "-I", from, ...this.#jump(chain)]);
    } catch (err) {
      this.#warn(err instanceof Error ? err.message : String(err));
    }
  }

  async #missingJumps(): Promise<[from: string, chain: string][]> {
    const isDocker = await succeeds("iptables", ["-w", "5", "-n", "-L", "DOCKER-USER"]);
    const missing: [string, string][] = [];
    for (const [from, chain] of this.#jumps(isDocker ? "DOCKER-USER" : "FORWARD"))
      if (!(await succeeds("iptables", ["-w", "5", "-C", from, ...this.#jump(chain)]))) missing.push([from, chain]);
    return missing;
  }

  #warn(why: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.log.warn(
      { why },
      "functions can reach services of this host and metadata addresses: there are no firewall rules",
    );
  }

  #change(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

function canChange(): boolean {
  return process.platform === "linux" && process.getuid?.() === 0;
}

async function textsOf(files: readonly string[]): Promise<string[]> {
  return await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return await run(program, args).then(
    () => true,
    () => false,
  );
}

function run(program: string, args: readonly string[], input = ""): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...args], { timeout, env: { PATH: path } }, (err, _stdout, stderr) => {
      if (err === null) resolve();
      else reject(new Error(stderr.trim() === "" ? err.message : stderr.trim()));
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
