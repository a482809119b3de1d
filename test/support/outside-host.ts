import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

import { eventually } from "./eventually.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";

const run = promisify(execFile);

/** Stands in for another machine: a network namespace behind this machine; needs root. */
export interface OutsideHost extends AsyncDisposable {
  readonly address: string;
  /** This machine's address in the network between the two. */
  readonly hostAddress: string;
  readonly port: number;
  /** Addresses that connected, in order. */
  peers(): readonly string[];
}

const name = "weir-outside";
/** Differs from the names of bridges of functions. */
const inside = "outside0";
const beyond = "outside1";
const address = "198.51.100.2";
const hostAddress = "198.51.100.1";
const server = `const net = require("node:net").createServer((socket) => {
  process.stdout.write(socket.remoteAddress + "\\n");
  socket.on("error", () => {}).destroy();
});
net.listen(0, "${address}", () => process.stdout.write(net.address().port + "\\n"));`;

/** Opens one that listens on a port. */
export async function openOutside(): Promise<OutsideHost> {
  const ip = (...args: readonly string[]): Promise<unknown> => run("ip", [...args]);
  await using opened = new AsyncDisposableStack();
  await ip("netns", "add", name);
  opened.defer(() => ip("netns", "delete", name).then(() => undefined));
  await ip("link", "add", inside, "type", "veth", "peer", "name", beyond, "netns", name);
  opened.defer(() => ip("link", "delete", inside).then(() => undefined));
  await ip("address", "add", `${hostAddress}/24`, "dev", inside);
  await ip("link", "set", inside, "up");
  await ip("-n", name, "address", "add", `${address}/24`, "dev", beyond);
  await ip("-n", name, "link", "set", beyond, "up");
  const child = spawn("ip", ["netns", "exec", name, process.execPath, "-e", server], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  killAtExit(child);
  const closed = once(child, "close");
  opened.defer(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const listening = await eventually(() => output.includes("\n") || (isRunningChild(child) ? undefined : "ended"), {
    what: "the outside host to listen",
  });
  if (listening === "ended") throw new Error("Cannot open an outside host: its server ended");
  const lines = (): string[] => output.trim().split("\n");
  const parts = opened.move();
  return {
    address,
    hostAddress,
    port: Number(lines()[0]),
    peers: () => lines().slice(1),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
