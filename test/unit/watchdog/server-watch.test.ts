import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { HeldOutput } from "../../../runtime/watchdog/held-output.ts";
import {
  listeningAddresses,
  processorTicks,
  type ListeningProcess,
} from "../../../runtime/watchdog/listening-process.ts";
import { timedOut } from "../../../runtime/watchdog/process-per-request.ts";
import { watchForServer, type InputState } from "../../../runtime/watchdog/server-watch.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F91 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 4343 1 0000000000000000 20 4 30 10 -1
`;
const table6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0000000000000000 100 0 0 10 0
`;

test("listeningAddresses() gives listening sockets of both families", () => {
  const loopback6 = table6.replace("0".repeat(32), `${"0".repeat(24)}01000000`);
  expect([...listeningAddresses(table)]).toEqual([["socket:[4242]", { host: "127.0.0.1", port: 8_080 }]]);
  expect([...listeningAddresses(table6)]).toEqual([["socket:[99]", { host: "*", port: 3_000 }]]);
  expect([...listeningAddresses(loopback6)]).toEqual([["socket:[99]", { host: "[::1]", port: 3_000 }]]);
  expect([...listeningAddresses("")]).toEqual([]);
});

test("processorTicks() adds user and system time, whatever the name of the process", () => {
  expect(processorTicks("12 (a ) R (b) S 1 12 12 0 -1 4194304 100 0 0 0 31 11 0 0 20 0 7 0 1")).toBe(42);
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("watchForServer", () => {
  const at = (ticks: number, pid = 7): ListeningProcess => ({ pid, port: 3_000, ticks });

  async function watch(looks: readonly (ListeningProcess | undefined)[], input: InputState = "unread") {
    const reports: string[] = [];
    let next = 0;
    const end = watchForServer({
      pid: 1,
      input: () => input,
      maybeServer: (port) => reports.push(`maybe ${port}`),
      isServer: (port) => reports.push(`server ${port}`),
      isNone: () => reports.push("none"),
      look: async () => looks[next++],
    });
    await vi.advanceTimersByTimeAsync(1_000 * looks.length);
    end();
    return reports;
  }

  test.each<[what: string, looks: (ListeningProcess | undefined)[], reports: string[]]>([
    ["two looks at a waiting process", [at(5), at(6)], ["server 3000"]],
    ["nothing more after the report", [at(5), at(6), at(6)], ["server 3000"]],
    ["one look is not enough", [at(5)], []],
    ["nobody listens", [undefined, undefined], ["none", "none"]],
    ["it starts late", [undefined, at(5), at(5)], ["none", "server 3000"]],
    ["it works", [at(5), at(60), at(120)], ["none", "none"]],
    ["it worked, then waits", [at(5), at(60), at(61)], ["none", "server 3000"]],
    ["another process each time", [at(5, 7), at(5, 8)], []],
  ])("%s", async (_what, looks, reports) => {
    expect(await watch(looks)).toEqual(reports);
  });

  test("a process that still waits for its input is no server", async () => {
    expect(await watch([at(5), at(5), at(5)], "coming")).toEqual(["none", "none", "none"]);
  });

  test("a process that may have read its input may be a server while it waits, and stays watched", async () => {
    const looks = [at(5), at(5), at(6), at(60), at(60)];
    expect(await watch(looks, "given")).toEqual(["maybe 3000", "maybe 3000", "none", "maybe 3000"]);
  });
});

test("timedOut() says that the process may be a server, if it listens", () => {
  const took = "the process took longer than exec_timeout of 10s";
  expect(String(timedOut(10_000, false))).toBe(took);
  expect(String(timedOut(10_000, true))).toBe(
    `${took}; it listens on a port and waits: if it is a server, set mode to http`,
  );
});

describe("HeldOutput", () => {
  function hold(seemsServer: boolean) {
    const sent: string[] = [];
    let checks = 0;
    const held = new HeldOutput({
      send: (chunk) => sent.push(chunk.toString()),
      seemsServer: async () => {
        checks += 1;
        return seemsServer;
      },
    });
    return { held, sent, checks: () => checks };
  }

  test("passes on after 10 ms what is not from a server, and the rest at once", async () => {
    const { held, sent } = hold(false);
    held.add(Buffer.from("a"));
    held.add(Buffer.from("b"));
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(10);
    expect(sent).toEqual(["a", "b"]);
    held.add(Buffer.from("c"));
    expect(sent).toEqual(["a", "b", "c"]);
  });

  test("does not check when the process has ended by then", async () => {
    const { held, sent, checks } = hold(false);
    held.add(Buffer.from("a"));
    held.release();
    await vi.advanceTimersByTimeAsync(100);
    expect([sent, checks()]).toEqual([["a"], 0]);
  });

  test("holds the greeting of a server until it is released", async () => {
    const { held, sent } = hold(true);
    held.add(Buffer.from("Listening on 3000\n"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toEqual([]);
    held.release();
    expect(sent).toEqual(["Listening on 3000\n"]);
  });

  test("holds no more than 4 KiB", () => {
    const { held, sent } = hold(true);
    held.add(Buffer.alloc(4_096, "x"));
    expect(sent).toEqual([]);
    held.add(Buffer.from("y"));
    expect(sent.join("")).toBe(`${"x".repeat(4_096)}y`);
  });
});
