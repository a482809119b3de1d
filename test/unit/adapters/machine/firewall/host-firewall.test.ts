import { expect, test } from "vitest";

import { HostFirewall } from "../../../../../runtime/adapters/machine/firewall/host-firewall.ts";

/** A host whose rules can be changed only while `fault` is undefined. */
class TestHost {
  fault: string | undefined;
  readonly rules = new Set<string>();
  readonly logged: string[] = [];
  readonly log = {
    info: (_facts: object, sentence: string) => void this.logged.push(sentence),
    warn: (facts: object, sentence: string) => void this.logged.push(`${JSON.stringify(facts)} ${sentence}`),
  };

  readonly run = async (program: string, args: readonly string[]): Promise<void> => {
    if (this.fault !== undefined) throw new Error(this.fault);
    const [action = "", ...rule] = args.slice(2);
    const text = rule.join(" ");
    if (program === "iptables-restore") this.rules.add("chains");
    else if (action === "-I") this.rules.add(text);
    else if (action === "-D" ? !this.rules.delete(text) : action === "-C" && !this.rules.has(text))
      throw new Error("no such rule");
  };
}

const open = (host: TestHost, privileged = true): HostFirewall =>
  new HostFirewall({ instance: "i", gatewayPort: 8_080, log: host.log, run: host.run, privileged });
const missing = "functions can reach services of this host and metadata addresses: there are no firewall rules";

test("rules that could not be added are added by a later check; both are logged once", async () => {
  const host = new TestHost();
  host.fault = "the lock is held";
  const firewall = open(host);
  await firewall.allow(["10.0.0.1"]);
  await firewall.restore();
  expect(host.logged).toEqual([`{"reason":"the lock is held"} ${missing}`]);
  host.fault = undefined;
  await firewall.restore();
  await firewall.restore();
  expect(host.rules.size).toBe(3);
  expect(host.logged.slice(1)).toEqual(["the firewall rules are in place"]);
  await firewall.close();
  expect([...host.rules]).toEqual(["chains"]);
});

test("without the right to change rules no command is run", async () => {
  const host = new TestHost();
  const firewall = open(host, false);
  await firewall.allow(["10.0.0.1"]);
  await firewall.restore();
  await firewall.close();
  expect(host.rules.size).toBe(0);
  expect(host.logged).toEqual([`{"reason":"adding them needs root"} ${missing}`]);
});
